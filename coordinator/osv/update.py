"""Downloading the dumps of whole ecosystems: ``<base URL>/<ecosystem>/all.zip``, as osv.dev publishes them.

Source: https://google.github.io/osv.dev/data/
"""

from __future__ import annotations

import tempfile
from collections.abc import Sequence
from pathlib import Path
from urllib.parse import quote

import httpx

from coordinator.osv.advisories import Advisories, AdvisoriesError
from coordinator.osv.importing import Imported, import_path

MAX_DOWNLOAD_BYTES = 4 << 30
TIMEOUT_S = 60.0  # without a byte; a dump of npm is large
CHUNK = 1 << 20


class Unreachable(Exception):
    """The server of the dumps cannot be reached, or did not send one; the message says which and why."""


def update(advisories: Advisories, base_url: str, ecosystems: Sequence[str]) -> Imported:
    """Bring *advisories* up to date with the dumps of *ecosystems* under *base_url*: all of them or none.

    Raises:
        Unreachable: If one cannot be downloaded.
        AdvisoriesError: If one is no dump, or the database cannot be written.
    """
    done = Imported()
    with tempfile.TemporaryDirectory(prefix="skillmark-osv-") as folder:
        downloaded = []
        with httpx.Client(timeout=TIMEOUT_S, follow_redirects=True, max_redirects=3) as client:
            for number, ecosystem in enumerate(ecosystems):
                url = f"{base_url.rstrip('/')}/{quote(ecosystem, safe='')}/all.zip"
                path = Path(folder) / f"{number}.zip"
                _download(client, url, path)
                downloaded.append((url, path))
        with advisories.importing() as taking:
            for url, path in downloaded:
                try:
                    import_path(taking, path, done, source=url)
                except AdvisoriesError as error:
                    raise AdvisoriesError(str(error).replace(str(path), url)) from None
    return done


def _download(client: httpx.Client, url: str, path: Path) -> None:
    try:
        with client.stream("GET", url) as response, path.open("wb") as file:
            if response.status_code != httpx.codes.OK:
                raise Unreachable(f"{url}: expected a dump of OSV records, found HTTP {response.status_code}")
            received = 0
            for chunk in response.iter_bytes(CHUNK):
                received += len(chunk)
                if received > MAX_DOWNLOAD_BYTES:
                    raise Unreachable(f"{url}: expected at most {MAX_DOWNLOAD_BYTES >> 30} GiB, found more")
                file.write(chunk)
    except (httpx.HTTPError, httpx.InvalidURL) as error:
        reason = str(error) or type(error).__name__
        raise Unreachable(
            f"{url}: cannot be reached ({reason}); where there is no network, download the dump elsewhere and use "
            "`skillmark osv import FILE`"
        ) from error
