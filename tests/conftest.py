"""Fixtures that every test folder shares; the private RabbitMQ starts when the first test asks for it."""

from __future__ import annotations

import os
from collections.abc import Iterator

import pytest

from tests import postgresql
from tests.rabbitmq import PrivateRabbit, missing
from tests.skill import EchoSkill


@pytest.fixture(scope="session")
def rabbitmq() -> Iterator[PrivateRabbit]:
    """The private RabbitMQ of this test session."""
    reason = missing()
    if reason:
        if os.environ.get("CI", "").lower() == "true":
            pytest.fail(f"CI must test against RabbitMQ: {reason}")
        pytest.skip(reason)
    server = PrivateRabbit()
    try:
        yield server.start()
    finally:
        server.close()


@pytest.fixture
def broker_url(rabbitmq: PrivateRabbit) -> Iterator[str]:
    """The URL of an empty vhost of this test's own."""
    url = rabbitmq.vhost()
    yield url
    rabbitmq.drop(url)


@pytest.fixture(scope="session")
def postgres() -> Iterator[postgresql.PrivatePostgres]:
    """The private PostgreSQL of this test session."""
    reason = postgresql.missing()
    if reason:
        if os.environ.get("CI", "").lower() == "true":
            pytest.fail(f"CI must test against PostgreSQL: {reason}")
        pytest.skip(reason)
    server = postgresql.PrivatePostgres()
    try:
        yield server.start()
    finally:
        server.close()


@pytest.fixture
def echo_skill() -> Iterator[EchoSkill]:
    """A real skill on a real socket."""
    with EchoSkill() as skill:
        yield skill
