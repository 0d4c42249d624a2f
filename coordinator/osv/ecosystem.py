"""Package names as the advisories spell them: (OSV ecosystem, normal name)."""

from __future__ import annotations

from msgspec import Struct
from packaging.utils import canonicalize_name

PYPI, NPM = "PyPI", "npm"
MAX_NAME_CHARS = 400

# What package URLs call an ecosystem, and what OSV does. Types that are missing here have no advisories to look in.
OF_PURL = {
    "pypi": PYPI, "npm": NPM, "golang": "Go", "cargo": "crates.io", "gem": "RubyGems", "maven": "Maven",
    "nuget": "NuGet", "composer": "Packagist", "hex": "Hex", "pub": "Pub", "cran": "CRAN", "hackage": "Hackage",
    "swift": "SwiftURL",
}  # fmt: skip
CASELESS = frozenset({"NuGet", "Packagist", "Hex", "Pub", "Go", "SwiftURL", "crates.io"})


class Package(Struct, frozen=True, order=True):
    """One package of one ecosystem, its *name* normal: two spellings of one package are equal."""

    ecosystem: str
    name: str

    def __str__(self) -> str:
        """Name and ecosystem, as shown."""
        return f"{self.name} ({self.ecosystem})"


def package(ecosystem: str, name: str) -> Package:
    """The package that *ecosystem* calls *name*, however it is spelt."""
    if ecosystem == PYPI:
        return Package(ecosystem, str(canonicalize_name(name)))
    if ecosystem == "crates.io":
        name = name.replace("_", "-")  # no two crates differ by that alone
    return Package(ecosystem, name.lower() if ecosystem in CASELESS else name)
