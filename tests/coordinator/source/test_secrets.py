from __future__ import annotations

import base64
import zlib

import pytest
from cryptography.hazmat.primitives import serialization
from cryptography.hazmat.primitives.asymmetric import ec

from coordinator.source.secrets import BASE62, secrets

# Put together here, so that nobody who scans this repository finds keys in it.
RANDOM = "q7Xf2LmZ9aTb4RkW8cVn3YdP6sGh1J"


def token(prefix: str, body: str = RANDOM) -> str:
    number, check = zlib.crc32(body.encode()), ""
    for _ in range(6):
        number, digit = divmod(number, 62)
        check = BASE62[digit] + check
    return f"{prefix}{body}{check}"


def pem() -> str:
    key = ec.generate_private_key(ec.SECP256R1())
    form = serialization.PrivateFormat.PKCS8
    return key.private_bytes(serialization.Encoding.PEM, form, serialization.NoEncryption()).decode()


@pytest.mark.parametrize(
    "text",
    [
        "key = '" + "AKIA" + "Q3EGRIXB7LZ5VTWM" + "'",
        token("gh" + "p_"),
        token("npm" + "_"),
        "xox" + "b-123412341234-987698769876-" + RANDOM[:24],
        pem(),
        repr(pem()),
        "password = '" + "vR8#kq2Z!mX4pL7w" + "'",
        'api_key: "' + base64.b64encode(bytes(range(7, 250, 9))).decode() + '"',
        "postgres://app:" + "vR8kq2ZmX4pL7w" + "@db.corp.net/x",
    ],
)
def test_secret_is_found_and_not_shown(text: str) -> None:
    """A key is found, by its kind and line, and no more than four characters of it are shown."""
    found = list(secrets("first\n" + text))

    assert [one.line for one in found][:1] == [2]
    assert all(RANDOM not in one.shown and "kq2Z" not in one.shown for one in found)


@pytest.mark.parametrize(
    "text",
    [
        "AKIAIOSFODNN7EXAMPLE",
        "password = 'changeme-please-now'",
        'api_key = "your-api-key-goes-here-1234"',
        "token = '${SECRET_TOKEN_FROM_ENV}'",
        "token = os.environ['TOKEN_OF_THE_SERVICE']",
        "secret: '0f8fad5b-d9cb-469f-a165-70867728950e'",
        "password_label = 'Please-enter-your-2-new-passwords'",
        "tokenizer = 'sentence-transformers/all-MiniLM-L6-v2'",
        "TOKEN_URL = 'https://login.example.net/oauth2/v2.0/token'",
        "gh" + "p_" + RANDOM + "AAAAAA",
        "-----BEGIN PRIVATE KEY-----\nMIIEvQIBADANBgkqhkiG9w0BAQEFAASC...\n-----END PRIVATE KEY-----",
        "-----BEGIN PUBLIC KEY-----\n" + base64.b64encode(bytes(90)).decode() + "\n-----END PUBLIC KEY-----",
        "postgres://user:password@localhost/x postgres://app:s3cr3tvalue@db.example.com/x",
        "integrity: 'sha512-" + base64.b64encode(bytes(range(64))).decode() + "'",
    ],
)
def test_what_looks_like_a_secret_is_none(text: str) -> None:
    """Placeholders, examples, names, addresses, check sums and public keys are not accused."""
    assert list(secrets(text)) == []


def test_planted_canary_is_no_leak() -> None:
    """What the publisher planted for the probes is not held against him."""
    planted = token("gh" + "p_")

    assert list(secrets(planted, known=(planted,))) == []
