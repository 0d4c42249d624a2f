from __future__ import annotations

import pytest

from coordinator.source.facts import FileFacts, Kind, Origin
from coordinator.source.parsing import Asked, parse

GROWING = (
    "import requests\ndef f(q):\n    u = 'https://a.example/'\n"
    + "".join(f"    if q == {number}:\n        u += '&a{number}=' + q\n        q = u.strip()\n" for number in range(60))
    + "    requests.get(u)\n"
)

MEMBERS = "class A:\n" + "".join(
    f"    def m{number}(self, v):\n        self.y = self.x.z(self.y)\n        return self.m{number - 1}(v)\n"
    for number in range(150)
)


def facts(source: str, suffix: str = ".py") -> FileFacts:
    answer = parse(Asked(suffix, source.encode()))
    assert answer.facts is not None, answer.reason
    return answer.facts


def kinds(source: str, suffix: str = ".py") -> set[Kind]:
    return {use.kind for use in facts(source, suffix).uses}


@pytest.mark.parametrize(
    "source",
    [
        "from os import system as s\ns('x')",
        "import os\ngetattr(os, 'sys' + 'tem')('x')",
        "import os\nrun = os.system\nrun('x')",
        "import os\nmap(os.popen, ['x'])",
        "__import__('subprocess').run(['x'])",
        "import importlib\nimportlib.import_module('subprocess').Popen('x')",
        "from subprocess import *\ncheck_output('x')",
        "import sys\nsys.modules['os'].system('x')",
        "import os\nvars(os)['system']('x')",
        "import os\nos.__dict__['system']('x')",
        "import functools, subprocess\nfunctools.partial(subprocess.run, shell=True)()",
        "class A:\n    import os\n    def go(self):\n        import os as o\n        return o.execv('x', [])",
        "def f():\n    global s\n    from os import system as s\ndef g():\n    s('x')",
        "import os\n(lambda f: f('x'))(os.system)",
    ],
)
def test_process_is_seen_through_every_alias(source: str) -> None:
    """However a function is come by, its use is a fact."""
    assert Kind.PROCESS in kinds(source)


@pytest.mark.parametrize(
    "source",
    [
        "const { exec: run } = require('child_process'); run('x')",
        "import cp from 'node:child_process'; cp.spawnSync('x')",
        "import * as cp from 'child_process'; cp['ex' + 'ec']('x')",
        "const cp = await import('child_process'); cp.exec('x')",
        "import('child_process').then(x => x); require('child_process').fork('x')",
        "const { promisify } = require('util'); promisify(require('child_process').exec)('x')",
        r"require('child\x5fprocess').exec('x')",
    ],
)
@pytest.mark.parametrize("suffix", [".js", ".ts"])
def test_process_is_seen_in_javascript(source: str, suffix: str) -> None:
    """The same for JavaScript and TypeScript."""
    assert Kind.PROCESS in kinds(source, suffix)


@pytest.mark.parametrize(
    ("source", "suffix"),
    [
        ("# os.system('x')\n'''eval('x')'''\n", ".py"),
        ("def eval(x): return x\neval('x')", ".py"),
        ("import re\nre.compile('x')\nmodel.eval()\nsession.exec('x')", ".py"),
        ("import subprocess\ntry: pass\nexcept subprocess.CalledProcessError: pass", ".py"),
        (
            "import subprocess as s, types\ndef f(p: s.Popen[bytes]) -> s.Popen: pass\nx: s.Popen\n"
            "isinstance(f, (types.FunctionType, s.Popen))",
            ".py",
        ),
        ("import sys\nclass A: pass\nsys.modules[A.__module__]", ".py"),
        ("def open(x): return x\nopen('/etc/passwd')", ".py"),
        ("import os\nos.path.join('a', os.sep)", ".py"),
        ("// eval('x')\n/x/.exec('y'); model.eval(); db.exec('x')", ".js"),
        ("function fetch(x) { return x } fetch('https://a.example/')", ".js"),
        ("const url = 'https://schema.example/'; console.log(url)", ".js"),
        ("axios.defaults.timeout = 3", ".js"),
    ],
)
def test_what_only_looks_like_a_use_is_none(source: str, suffix: str) -> None:
    """Comments, texts, methods and functions of the same name are no facts."""
    assert facts(source, suffix).uses == ()


@pytest.mark.parametrize(
    ("source", "suffix", "host"),
    [
        ("import httpx\nhttpx.get('https://A.example:8443/x')", ".py", "a.example"),
        ("import httpx\nwith httpx.Client(base_url='https://a.example') as c:\n    c.get('/x')", ".py", "a.example"),
        ("import urllib.request as u\nu.urlopen(u.Request('http://a.example/'))", ".py", "a.example"),
        ("import socket\nsocket.create_connection(('a.example', 80))", ".py", "a.example"),
        ("import socket\ns = socket.socket()\ns.connect(('a.example', 80))", ".py", "a.example"),
        ("import aiohttp\nasync def f():\n    async with aiohttp.ClientSession() as s:\n"
         "        async with s.get('https://a.example/x') as r: return r", ".py", "a.example"),
        ("import requests\nfor u in ['https://a.example/1']:\n    requests.get(u)", ".py", "a.example"),
        ("import requests\nU = {'x': 'https://a.example/{}'}\nrequests.get(U['x'].format(1))", ".py", "a.example"),
        ("from urllib.parse import urljoin\nimport requests\nrequests.get(urljoin('https://a.example/', p))", ".py",
         "a.example"),
        (GROWING, ".py", "a.example"),
        ("import requests\nu = 'https://a.example'\nu += '/x'\nu = u + q\nrequests.get(u)", ".py", "a.example"),
        ("fetch(`https://a.example/${x}`)", ".js", "a.example"),
        ("const api = axios.create({baseURL: 'https://a.example'}); api.get('/x')", ".js", "a.example"),
        ("require('https').request({hostname: 'a.example'})", ".js", "a.example"),
        ("new WebSocket('wss://a.example/x')", ".js", "a.example"),
        ("const get = (p) => fetch('https://a.example/' + p); get('x')", ".js", "a.example"),
        ("fetch(new URL('/x', 'https://a.example'))", ".js", "a.example"),
    ],
)  # fmt: skip
def test_hosts_are_told_as_far_as_the_source_fixes_them(source: str, suffix: str, host: str) -> None:
    """The one host that is called is the one that is told."""
    uses = [use for use in facts(source, suffix).uses if use.kind is Kind.NETWORK]

    assert {(use.target, use.origin) for use in uses} == {(host, Origin.LITERAL)}


@pytest.mark.parametrize(
    ("source", "suffix", "origin"),
    [
        ("import requests\ndef f(u): return requests.get(u)", ".py", Origin.COMPUTED),
        ("import requests\nrequests.get('https://' + host())", ".py", Origin.COMPUTED),
        ("import requests\n@app.post('/')\ndef f(u): return requests.get(u)", ".py", Origin.INPUT),
        ("fetch(process.env.TARGET)", ".js", Origin.COMPUTED),
        ("app.post('/', (req, res) => fetch(req.body.url))", ".js", Origin.INPUT),
    ],
)
def test_host_that_is_not_fixed_is_never_guessed(source: str, suffix: str, origin: Origin) -> None:
    """A host that comes from elsewhere is told as such."""
    (use,) = [use for use in facts(source, suffix).uses if use.kind is Kind.NETWORK]

    assert (use.target, use.origin) == ("", origin)


def test_a_text_that_grows_may_leave_any_piece_out() -> None:
    """A host that is made by one branch alone is seen, whatever the branches before it add."""
    source = "import requests\nu = 'https://a.example'\nif p: u += '/x'\nif q: u += '.b.example/'\nrequests.get(u)"

    assert {use.target for use in facts(source).uses} == {"a.example", "a.example.b.example"}


@pytest.mark.parametrize(
    ("source", "suffix"),
    [
        (GROWING, ".py"),
        ("let x = 'a';" + "x = x + 'b'; require('fs').readFileSync(x);" * 150, ".js"),
        (MEMBERS, ".py"),
        ("from h import h\nv = " + "h('x', " * 30 + "1" + ")" * 30 + "\n", ".py"),
    ],
)  # fmt: skip
def test_dense_code_is_followed_to_its_end(source: str, suffix: str) -> None:
    """Variables that go on from themselves, members that are made of each other, calls within calls."""
    assert facts(source, suffix).cut == ""


@pytest.mark.parametrize(
    "source",
    [
        "".join(f"u = 'https://a.example/{n}'\n" for n in range(40)) + "u = 'https://b.example/'\nrequests.get(u)",
        f"for u in {[*(f'https://a.example/{n}' for n in range(90)), 'https://b.example/']}:\n    requests.get(u)",
    ],
)
def test_no_host_is_lost_among_many(source: str) -> None:
    """However many others a variable or a list has before it."""
    assert {use.target for use in facts(f"import requests\n{source}").uses} == {"a.example", "b.example"}


def test_what_is_too_much_to_be_listed_is_told_by_what_it_begins_with() -> None:
    """It is not left out."""
    hosts = [*(f"https://a.example/{n}" for n in range(198)), "https://b.example/", "https://c.example/"]
    source = f"import requests\nfor u in {hosts}:\n    requests.get(u + '/x')"

    assert {use.target for use in facts(source).uses} == {"a.example", "b.example", "c.example"}
