"""Imports and the packages that bring them.

A package may be imported under any name, so a name that is not known here is matched liberally, and an import that
could be of some declared package is not held against anybody.
"""

from __future__ import annotations

import re
import sys
from collections.abc import Iterable

from coordinator.source.facts import folded

IMPORTED_AS = {
    "pyyaml": "yaml", "pillow": "PIL", "opencv-python": "cv2", "opencv-python-headless": "cv2",
    "scikit-learn": "sklearn", "scikit-image": "skimage", "beautifulsoup4": "bs4", "python-dotenv": "dotenv",
    "pyjwt": "jwt", "python-dateutil": "dateutil", "pymupdf": "fitz", "pycryptodome": "Crypto", "attrs": "attr",
    "protobuf": "google", "grpcio": "grpc", "msgpack-python": "msgpack", "psycopg2-binary": "psycopg2",
    "mysqlclient": "MySQLdb", "python-jose": "jose", "pyserial": "serial", "python-magic": "magic",
    "discord.py": "discord", "websocket-client": "websocket", "python-telegram-bot": "telegram", "faiss-cpu": "faiss",
    "pyzmq": "zmq", "dnspython": "dns", "pywin32": "win32api", "setuptools": "pkg_resources", "gitpython": "git",
    "python-docx": "docx", "python-pptx": "pptx", "ruamel.yaml": "ruamel", "google-generativeai": "google",
    "google-genai": "google", "google-cloud-storage": "google", "pyopenssl": "OpenSSL", "python-slugify": "slugify",
    "duckduckgo-search": "duckduckgo_search", "google-re2": "re2", "mcp": "mcp", "fastmcp": "fastmcp",
}  # fmt: skip
NODE = frozenset(
    {
        "assert", "async_hooks", "buffer", "child_process", "cluster", "console", "constants", "crypto", "dgram",
        "diagnostics_channel", "dns", "domain", "events", "fs", "http", "http2", "https", "inspector", "module", "net",
        "os", "path", "perf_hooks", "process", "punycode", "querystring", "readline", "repl", "stream",
        "string_decoder", "sys", "timers", "tls", "trace_events", "tty", "url", "util", "v8", "vm", "wasi",
        "worker_threads", "zlib", "test", "sqlite", "bun", "deno",
    }
)  # fmt: skip
UNIMPORTED = re.compile(
    r"(?:types?[-_/].*|@types/.*|.*[-_]stubs|uvicorn|gunicorn|hypercorn|waitress|python|node|npm|pip|setuptools|wheel|"
    r"hatchling|poetry(?:-core)?|pytest.*|mypy|ruff|black|flake8|isort|pylint|tox|nox|coverage|typescript|tsx|"
    r"ts-node|eslint.*|prettier.*|jest.*|vitest.*|mocha|esbuild|webpack.*|rollup|vite|nodemon|uvloop|httptools|"
    r"python-multipart|email-validator|psycopg2?-binary|.*driver.*|.*plugin.*|.*cli|brotli|lxml|h2|orjson|ujson|"
    r"greenlet|aiodns|certifi|tzdata|cryptography|socksio|pysocks|watchfiles|watchdog|hiredis|openpyxl|xlrd|"
    r"pyarrow|jinja2|itsdangerous|supervisor|docker.*|@biomejs/.*|husky|lint-staged|pm2|concurrently|cross-env)",
    re.ASCII,
)


def local_modules(names: Iterable[str]) -> frozenset[str]:
    """The top names under which the files *names* import each other."""
    found = set()
    for name in names:
        parts = name.split("/")
        found |= set(parts[:-1])
        found.add(parts[-1].partition(".")[0])
    return frozenset(found)


def package_of_python(module: str, local: frozenset[str]) -> str:
    """The top name that *module* needs a package for; empty for the standard library and the source's own."""
    top = module.partition(".")[0]
    if not top or top in sys.stdlib_module_names or top in local or top.startswith("_"):
        return ""
    return top


def package_of_javascript(module: str) -> str:
    """The package that *module* needs; empty for built-in modules, files of the source and aliases of them."""
    if module.startswith((".", "/", "#", "~", "@/", "$", "file:", "data:", "http:", "https:", "node:", "bun:")):
        return ""
    parts = module.removeprefix("npm:").removeprefix("jsr:").split("/")
    if module.startswith("@"):
        return "/".join(parts[:2]) if len(parts) > 1 else ""
    return "" if parts[0] in NODE else parts[0].partition("@")[0]


def brings(package: str, name: str) -> bool:
    """Whether *package* may be what is imported as *name*."""
    known = IMPORTED_AS.get(package.lower())
    if known is not None and folded(known) == folded(name):
        return True
    one, two = folded(package.rpartition("/")[2] or package), folded(name.rpartition("/")[2] or name)
    if package.startswith("@") and name.startswith("@"):
        return folded(package) == folded(name)
    return bool(one and two) and (one == two or (min(len(one), len(two)) >= 3 and (two in one or one in two)))


def is_imported(package: str) -> bool:
    """Whether a program that needs *package* names it in an import: servers, tools, drivers and types are not."""
    return UNIMPORTED.fullmatch(package.lower()) is None
