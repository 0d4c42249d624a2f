from __future__ import annotations

import http.client
import json
import subprocess

import pytest


def test_one_line_tells_where_it_listens(fresh):
    """The server says on its first line where it listens, and is there."""
    connection = http.client.HTTPConnection("127.0.0.1", fresh.port, timeout=10)

    connection.request("GET", "/healthz")
    health = json.loads(connection.getresponse().read())
    connection.close()

    assert fresh.line == f"listening on http://127.0.0.1:{fresh.port}\n"
    assert health["status"] == "ok"
    assert "calculator" in health["skills"]
    assert not any(name.startswith("_") for name in health["skills"])


def test_sigterm_ends_it_cleanly(fresh):
    """SIGTERM ends the server with exit code 0, also while a client keeps its connection."""
    fresh.call("calculator", {"expression": "1"})

    code = fresh.stop()

    assert code == 0


def test_a_taken_port_is_told(fresh):
    """A second server on the same port says so and ends with 1."""
    command = [*fresh.process.args[:2], "--port", str(fresh.port)]

    second = subprocess.run(command, capture_output=True, text=True, timeout=10, check=False)

    assert second.returncode == 1
    assert f"cannot listen on 127.0.0.1:{fresh.port}" in second.stderr


def test_connections_are_kept(shared):
    """Several calls, refused ones among them, travel on one connection."""
    shared.call("calculator", {"expression": "1 + 1"})
    kept = shared.connection.sock

    shared.call("calculator", {"expression": "1 +"})
    shared.call("no-such-skill", {})
    answer = shared.call("calculator", {"expression": "2 + 2"})

    assert answer == (200, {"result": 4})
    assert shared.connection.sock is kept


@pytest.mark.parametrize("path", ["/", "/skills/", "/skills/nobody", "/skills/_inputs", "/calculator", "/skills/../x"])
def test_unknown_paths_are_not_found(shared, path):
    """Only the skills themselves are served."""
    status, body = shared.post(path, b"{}")

    assert status == 404
    assert json.loads(body)["error"]


@pytest.mark.parametrize(
    "body",
    [b"", b"{", b"[]", b'"text"', b"null", b"\xff{}", b"[" * 100_000, b'{"expression": ' + b"9" * 5000 + b"}"],
)
def test_bodies_that_are_no_json_object_are_refused(shared, body):
    """A body that is not a JSON object in UTF-8 gets 400 and a JSON error."""
    status, answer = shared.post("/skills/calculator", body)

    assert status == 400
    assert json.loads(answer)["error"]


def test_a_body_without_length_is_refused(shared):
    """A request that does not say how long its body is gets 411."""
    connection = http.client.HTTPConnection("127.0.0.1", shared.port, timeout=10)

    connection.request("POST", "/skills/calculator", iter([b"{}"]), encode_chunked=True)
    response = connection.getresponse()
    response.read()
    connection.close()

    assert response.status == 411
    assert response.getheader("Connection") == "close"


def test_a_huge_body_is_refused_unread(shared):
    """A body beyond the limit gets 413 before it is read."""
    connection = http.client.HTTPConnection("127.0.0.1", shared.port, timeout=10)

    connection.putrequest("POST", "/skills/calculator")
    connection.putheader("Content-Length", str(1 << 30))
    connection.endheaders()
    response = connection.getresponse()
    response.read()
    connection.close()

    assert response.status == 413


def test_half_a_character_survives_the_way_back(shared):
    """A lone surrogate, which UTF-8 cannot hold, comes back as the JSON escape that it came in as."""
    status, body = shared.post("/skills/text-tool", b'{"operation": "lower", "text": "A\\ud800"}')

    assert status == 200
    assert body == b'{"result": "a\\ud800", "words": 1}'
