from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from tests.coordinator.static.lockfiles.sources import found

PACKAGE = """{"name": "x", "dependencies": {"lodash": "^4.17.0", "@a/b": "1.2.3", "c": "npm:@d/e@2.0.0",
 "f": "file:../f", "g": "github:x/g"}, "optionalDependencies": {"h": "*"}, "devDependencies": {"jest": "1.0.0"}}"""
LOCK_1: dict[str, Any] = {
    "lockfileVersion": 1,
    "dependencies": {
        "a": {"version": "1.0.0", "dependencies": {"b": {"version": "2.0.0"}}},
        "b": {"version": "3.0.0", "dev": True},
        "c": {"version": "git+ssh://git@example.com/c.git#abc"},
    },
}
LOCK_3: dict[str, Any] = {
    "lockfileVersion": 3,
    "packages": {
        "": {"name": "x", "version": "1.0.0"},
        "node_modules/a": {"version": "1.0.0"},
        "node_modules/a/node_modules/@s/b": {"version": "2.0.0"},
        "node_modules/alias": {"name": "real", "version": "3.0.0"},
        "node_modules/jest": {"version": "4.0.0", "dev": True},
        "node_modules/own": {"resolved": "packages/own", "link": True},
        "packages/own": {"version": "0.0.1"},
    },
}
YARN_1 = """\
# yarn lockfile v1


"@babel/core@^7.0.0", "@babel/core@^7.1.0":
  version "7.2.2"
  resolved "https://registry.example.com/@babel/core.tgz#abc"
  dependencies:
    version "9.9.9"

lodash@^4.17.0:
  version "4.17.4"

"mine@npm:real@^1.0.0":
  version "1.0.1"
"""
BERRY = """\
__metadata:
  version: 6
  cacheKey: 8

"@babel/core@npm:^7.0.0, @babel/core@npm:^7.1.0":
  version: 7.10
  resolution: "@babel/core@npm:7.10.0"
  languageName: node

"lodash@npm:^4.17.0":
  version: 4.17.4
  resolution: "lodash@npm:4.17.4"

"x@workspace:.":
  version: 0.0.0-use.local
  resolution: "x@workspace:."
"""
PNPM_5 = """\
lockfileVersion: 5.4
packages:
  /lodash/4.17.4:
    resolution: {integrity: sha512-x}
    dev: false
  /@babel/core/7.2.2_peer@1.0.0:
    dev: false
  /jest/1.0.0:
    dev: true
  github.com/x/y/abc:
    name: y
    version: 1.1.1
  file:../own: {}
"""
PNPM_6 = """\
lockfileVersion: '6.0'
packages:
  /lodash@4.17.4:
    dev: false
  /@babel/core@7.2.2(peer@1.0.0)(@p/q@2.0.0):
    dev: false
  '@github.com/x/z': {}
"""
PNPM_9 = """\
lockfileVersion: '9.0'
importers:
  .:
    dependencies:
      lodash: {specifier: ^4, version: 4.17.4}
      '@a/b': {specifier: ^1, version: 1.0.0(peer@2.0.0)}
      own: {specifier: 'link:../own', version: 'link:../own'}
    devDependencies:
      jest: {specifier: ^1, version: 1.0.0}
packages:
  lodash@4.17.4: {}
  '@a/b@1.0.0': {}
  deep@3.0.0: {}
  peer@2.0.0: {}
  jest@1.0.0: {}
snapshots:
  lodash@4.17.4: {}
  '@a/b@1.0.0(peer@2.0.0)':
    dependencies:
      deep: 3.0.0
      peer: 2.0.0
  deep@3.0.0: {}
  peer@2.0.0: {}
  jest@1.0.0: {}
"""


def test_package_json_tells_what_is_asked_for(tmp_path: Path) -> None:
    """Aliases are what they stand for; own folders and development dependencies are left out."""
    assert found(tmp_path, package__json=PACKAGE) == (["lodash ^4.17.0", "@a/b 1.2.3", "@d/e 2.0.0", "g", "h *"], [])


@pytest.mark.parametrize(
    ("lock", "expected"),
    [
        (LOCK_1, ["a 1.0.0", "c", "b 2.0.0"]),
        (LOCK_3, ["a 1.0.0", "@s/b 2.0.0", "real 3.0.0"]),
        ({**LOCK_3, "dependencies": {"z": {"version": "1.0.0"}}}, ["a 1.0.0", "@s/b 2.0.0", "real 3.0.0"]),
    ],
)
def test_package_lock_tells_what_is_installed(tmp_path: Path, lock: dict[str, Any], expected: list[str]) -> None:
    """In all three versions, nested packages as well, without development ones and links."""
    (tmp_path / "package-lock.json").write_text(json.dumps(lock))

    assert found(tmp_path) == (expected, [])


def test_yarn_lock_tells_what_is_installed(tmp_path: Path) -> None:
    """Version 1 by its lines."""
    assert found(tmp_path, yarn__lock=YARN_1) == (["@babel/core 7.2.2", "lodash 4.17.4", "real 1.0.1"], [])


def test_yarn_berry_tells_what_is_installed(tmp_path: Path) -> None:
    """Later ones as YAML, in which 7.10 is a version."""
    dependencies, broken = found(tmp_path, yarn__lock=BERRY)

    assert dependencies == ["@babel/core 7.10", "lodash 4.17.4"]
    assert broken == []


@pytest.mark.parametrize(
    ("content", "expected"),
    [
        (PNPM_5, ["lodash 4.17.4", "@babel/core 7.2.2", "y 1.1.1"]),
        (PNPM_6, ["lodash 4.17.4", "@babel/core 7.2.2", "?@github.com/x/z"]),
        (PNPM_9, ["lodash 4.17.4", "@a/b 1.0.0", "deep 3.0.0", "peer 2.0.0"]),
    ],
)
def test_pnpm_lock_tells_what_is_installed(tmp_path: Path, content: str, expected: list[str]) -> None:
    """Versions 5, 6 and 9, without what only development needs."""
    (tmp_path / "pnpm-lock.yaml").write_text(content)

    assert found(tmp_path) == (expected, [])


@pytest.mark.parametrize(
    ("name", "content", "at"),
    [
        ("package.json", '{"dependencies":\n {"a": "1.0.0",\n  "b": 7}}', "package.json:3"),
        ("package.json", '{"dependencies": ["a"]}', "package.json:1"),
        ("package.json", '{"dependencies": {"a": "1",}}', "package.json:1"),
        ("package-lock.json", "{}", "package-lock.json:1"),
        ("package-lock.json", '{"packages": {\n"node_modules/a":\n {"version": 1}}}', "package-lock.json:3"),
        ("package-lock.json", '{"dependencies": {"a":\n\n"1.0"}}', "package-lock.json:3"),
        ("package-lock.json", "[" * 200_000, "package-lock.json:1"),
        ("npm-shrinkwrap.json", "null", "npm-shrinkwrap.json:1"),
        ("yarn.lock", "\nlodash@^4:\n\nx@^1:\n  version \"1.0.0\"\n", "yarn.lock:2"),
        ("yarn.lock", "hello world\n", "yarn.lock:1"),
        ("yarn.lock", "__metadata:\n  version: 6\n\"a@npm:1\":\n  version: 1\n  resolution: [x]\n", "yarn.lock:5"),
        ("yarn.lock", "__metadata:\n\tversion: 6\n", "yarn.lock:2"),
        ("pnpm-lock.yaml", "lockfileVersion: 5\npackages:\n  what: {}\n", "pnpm-lock.yaml:3"),
        ("pnpm-lock.yaml", "packages: {}\n", "pnpm-lock.yaml:1"),
        ("pnpm-lock.yaml", "a: &x [1]\nb: *x\n", "pnpm-lock.yaml:2"),
        ("pnpm-lock.yaml", "- " * 20_000, "pnpm-lock.yaml:1"),
        ("bom.json", '{"bomFormat": "SPDX"}', "bom.json:1"),
        ("bom.json", '{"bomFormat": "CycloneDX",\n"components": [{"type": "file"},\n {"name": "x"}]}', "bom.json:3"),
    ],
)  # fmt: skip
def test_rubbish_is_told_with_file_and_line(tmp_path: Path, name: str, content: str, at: str) -> None:
    """Never a crash, never silence."""
    (tmp_path / name).write_text(content)

    _, broken = found(tmp_path)

    assert at in broken


def test_cyclonedx_tells_what_is_in_use(tmp_path: Path) -> None:
    """By package URLs, nested components too; what is excluded or no package is left out."""
    bom = {
        "bomFormat": "CycloneDX",
        "components": [
            {"type": "library", "name": "a", "purl": "pkg:npm/a@1.0.0", "components": [
                {"type": "library", "name": "b", "purl": "pkg:pypi/B@2.0"}]},
            {"type": "library", "name": "c", "purl": "pkg:npm/c@1.0.0", "scope": "excluded"},
            {"type": "library", "name": "plain"},
            {"type": "file", "name": "f"},
        ],
    }  # fmt: skip

    assert found(tmp_path, bom__json=json.dumps(bom)) == (["a 1.0.0", "?plain", "b 2.0"], [])
