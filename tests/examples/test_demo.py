from __future__ import annotations

import importlib.util
import json
import urllib.request
from contextlib import nullcontext
from pathlib import Path
from types import ModuleType

import pytest

DEMO = Path(__file__).parents[2] / "examples" / "demo.py"


@pytest.fixture(scope="module")
def demo() -> ModuleType:
    """The script as a module."""
    spec = importlib.util.spec_from_file_location("demo", DEMO)
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def test_the_copy_names_the_real_address(demo, tmp_path, manifests):
    """The copied catalog differs from the written one by the address of its skills only."""
    copy = demo.copy_catalog(tmp_path / "catalog", "127.0.0.1:5")

    copied = {file.parent.name: json.loads(file.read_text("utf-8")) for file in copy.glob("*/*.json")}
    written = json.dumps(manifests, sort_keys=True)
    assert json.dumps(copied, sort_keys=True) == written.replace("127.0.0.1:8737", "127.0.0.1:5")
    assert "127.0.0.1:8737" in written


def test_the_marketplace_is_stopped_whatever_happens(demo):
    """The server is up inside the demo's block and gone after it, also when the block is interrupted."""
    healthy = []

    def interrupted() -> None:
        with demo.marketplace() as address:
            healthy.append(f"http://{address}/healthz")
            with urllib.request.urlopen(healthy[0], timeout=10) as response:
                healthy.append(json.load(response)["status"])
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        interrupted()

    assert healthy[1:] == ["ok"]
    with pytest.raises(OSError, match="refused"):
        urllib.request.urlopen(healthy[0], timeout=10)


@pytest.mark.parametrize(("ended", "code"), [(0, 0), (4, 0), (1, 1), (3, 3)])
def test_exit_codes_of_certify_are_passed_on(demo, monkeypatch, capsys, ended, code):
    """A finished run is a success, rejections included; any other exit code of certify is the demo's own."""
    monkeypatch.setattr(demo, "certify", lambda catalog: ended)
    monkeypatch.chdir(DEMO.parents[1])

    result = demo.main()

    shown = capsys.readouterr()
    assert result == code
    assert ("out/demo/report.md" in shown.out) == (code == 0)


@pytest.mark.parametrize(("address", "copied"), [("127.0.0.1:8737", False), ("127.0.0.1:5", True)])
def test_the_catalog_is_copied_only_for_another_port(demo, monkeypatch, address, copied):
    """At the written port the catalog itself is certified; else a copy, which is gone afterwards."""
    certified: list[Path] = []
    monkeypatch.setattr(demo, "marketplace", lambda: nullcontext(address))
    monkeypatch.setattr(demo, "certify", lambda catalog: certified.append(catalog.resolve(strict=True)) or 0)
    monkeypatch.chdir(DEMO.parents[1])

    demo.main()

    assert (certified != [DEMO.parent / "marketplace" / "catalog"]) == copied
    assert certified[0].exists() != copied
