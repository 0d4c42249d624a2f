from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from coordinator.osv.ecosystem import NPM, PYPI, Package
from coordinator.static.dependency import Dependency, npm, pep508, read


def said(found: Dependency | None) -> tuple[str, str, str, str] | None:
    if found is None or found.package is None:
        return None
    return found.package.ecosystem, found.package.name, found.version, found.allowed


@pytest.mark.parametrize(
    ("text", "ecosystem", "expected"),
    [
        ("Flask_SQLAlchemy", PYPI, (PYPI, "flask-sqlalchemy", "", "")),
        ("requests==2.31.0", None, (PYPI, "requests", "2.31.0", "")),
        ("requests[socks]>=2.8,<3; python_version > '3'", None, (PYPI, "requests", "", "<3,>=2.8")),
        ("requests==2.*", None, (PYPI, "requests", "", "==2.*")),
        ("requests@2.31", PYPI, (PYPI, "requests", "2.31", "")),
        ("lodash@4.17.21", NPM, (NPM, "lodash", "4.17.21", "")),
        ("lodash@^4", NPM, (NPM, "lodash", "", "^4")),
        ("@scope/x@1.0.0", None, (NPM, "@scope/x", "1.0.0", "")),
        ("@scope/x", PYPI, (NPM, "@scope/x", "", "")),
        ("npm:lodash@4.17.21", PYPI, (NPM, "lodash", "4.17.21", "")),
        ("pypi:Requests", NPM, (PYPI, "requests", "", "")),
        ("pkg:pypi/Django@4.2", None, (PYPI, "django", "4.2", "")),
        ("pkg:npm/%40angular/core@16.0.0", None, (NPM, "@angular/core", "16.0.0", "")),
        ("pkg:maven/org.x/y@1", None, ("Maven", "org.x:y", "1", "")),
        ("pkg:npm/JSONStream@1.0.0", None, (NPM, "JSONStream", "1.0.0", "")),
        ("pkg:golang/github.com/A/b@v1.0.0", None, ("Go", "github.com/a/b", "v1.0.0", "")),
        ("pkg:gem/rails", None, ("RubyGems", "rails", "", "")),
    ],
)
def test_a_line_of_a_manifest_is_understood(
    text: str, ecosystem: str | None, expected: tuple[str, str, str, str]
) -> None:
    """Plain names, name@version, PEP 508, package URLs and prefixes, names normal."""
    assert said(read(text, "/dependencies/0", ecosystem)) == expected


@pytest.mark.parametrize(
    ("text", "ecosystem", "doubt"),
    [
        ("requests", None, "of which ecosystem"),
        ("lodash@4.17.21", None, "of which ecosystem"),
        ("an OpenAI API key", PYPI, "no package name"),
        ("what a name!", NPM, "no package name"),
        ("pkg:deb/debian/curl@1", None, "no advisories on packages of type deb"),
        ("pkg:", None, "no package URL"),
        ("x" * 5_000, PYPI, "too long"),
    ],
)
def test_what_cannot_be_told_is_doubtful(text: str, ecosystem: str | None, doubt: str) -> None:
    """It is said why; never guessed, never dropped."""
    found = read(text, "/dependencies/0", ecosystem)

    assert found is not None
    assert found.package is None
    assert doubt in found.doubt


@pytest.mark.parametrize(
    ("marker", "there"),
    [
        ("sys_platform == 'win32'", True),
        ("python_version < '3.11' and platform_system == 'Linux'", True),
        ("python_version < '3'", False),
        ("extra == 'dev'", False),
        ("implementation_name == 'micropython'", False),
    ],
)
def test_a_requirement_counts_where_it_may_be_installed(marker: str, there: bool) -> None:
    """A marker that is true on no current Python and platform asks for nothing; extras are not installed."""
    assert (pep508(f"x==1.0; {marker}", "at") is not None) is there


def test_a_url_fixes_no_version() -> None:
    """The package is known, what runs of it is not."""
    url = pep508("requests @ https://example.com/requests.zip", "at")
    git = npm("left-pad", "github:x/left-pad#main", "at")

    assert url is not None
    assert git is not None
    assert (url.package, url.version) == (Package(PYPI, "requests"), "")
    assert (git.package, git.version) == (Package(NPM, "left-pad"), "")
    assert "URL" in url.doubt
    assert "URL" in git.doubt


def test_an_alias_is_what_it_stands_for() -> None:
    """And what lies in the skill's own folders is no dependency."""
    assert said(npm("mine", "npm:@a/b@1.2.3", "at")) == (NPM, "@a/b", "1.2.3", "")
    assert said(npm("mine", "npm:b", "at")) == (NPM, "b", "", "")
    assert npm("mine", "workspace:*", "at") is None


@given(st.text(max_size=80), st.sampled_from([None, PYPI, NPM]))
def test_no_line_is_too_odd(text: str, ecosystem: str | None) -> None:
    """Each is a dependency, with a package or a doubt, or none at all."""
    found = read(text, "at", ecosystem)

    assert found is None or (found.package is None) == (found.doubt != "" and "URL, which does not" not in found.doubt)
