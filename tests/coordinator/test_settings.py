from __future__ import annotations

from pathlib import Path

import pytest

from coordinator.settings import Settings, SettingsError, redacted, resolve
from workers.evaluators._judge import BASE_URL, MODEL


def test_flag_beats_environment_beats_file_beats_default(tmp_path: Path) -> None:
    """Each setting comes from the nearest place that gives it, and the origin says which."""
    (tmp_path / "skillmark.toml").write_text('concurrency = 3\nstore = "sqlite:///file.db"\nout = "there"\n')
    environment = {"SKILLMARK_STORE": "sqlite:///environment.db", "SKILLMARK_CONCURRENCY": "4"}

    found = resolve({"concurrency": 5, "store": None}, environment=environment, folder=tmp_path)

    assert (found.settings.concurrency, found.origins["concurrency"]) == (5, "flag")
    assert (found.settings.store, found.origins["store"]) == ("sqlite:///environment.db", "SKILLMARK_STORE")
    assert (found.settings.out, found.origins["out"]) == ("there", str(tmp_path / "skillmark.toml"))
    assert (found.settings.processes, found.origins["processes"]) == (Settings().processes, "default")


def test_lists_are_separated_by_commas_in_the_environment(tmp_path: Path) -> None:
    """SKILLMARK_ALLOW_NETWORK holds several networks."""
    environment = {"SKILLMARK_ALLOW_NETWORK": "127.0.0.0/8, 10.1.0.0/16"}

    found = resolve({"allow_network": ()}, environment=environment, folder=tmp_path)

    assert found.settings.allow_network == ("127.0.0.0/8", "10.1.0.0/16")


def test_a_list_in_one_flag_is_separated_by_commas_too(tmp_path: Path) -> None:
    """``--queues security,latency`` is two queues."""
    found = resolve({"queues": "security, latency"}, environment={}, folder=tmp_path)

    assert found.settings.queues == ("security", "latency")


@pytest.mark.parametrize(
    ("name", "url", "told"),
    [
        ("broker", "localhost", "expected a URL such as amqp://user:password@host:5672/vhost, found 'localhost'"),
        ("broker", "http://me:hush@localhost/", "expected a URL such as amqp://"),
        ("broker", "me:hush@localhost", "expected a URL such as amqp://"),
        ("store", "ledger.sqlite", "expected a URL such as sqlite:///ledger.sqlite"),
        ("store", "mysql://me:hush@db/ledger", "postgresql://user@host/database"),
    ],
)
def test_a_url_of_another_kind_is_bad_input(tmp_path: Path, name: str, url: str, told: str) -> None:
    """Nothing is tried to be reached there; the message has an example, and no password."""
    with pytest.raises(SettingsError, match=f"{name} \\(from flag\\)") as refused:
        resolve({name: url}, environment={}, folder=tmp_path)

    assert told in str(refused.value)
    assert "hush" not in str(refused.value)


@pytest.mark.parametrize(
    "store", ["sqlite:///f", "sqlite+pysqlite:///f", "postgresql://d/l", "postgresql+psycopg://d/l"]
)
def test_stores_of_both_kinds_are_taken(tmp_path: Path, store: str) -> None:
    """With the driver named or not."""
    found = resolve({"store": store, "broker": "amqps://broker/"}, environment={}, folder=tmp_path)

    assert found.settings.store == store


def test_a_value_that_does_not_fit_is_shown(tmp_path: Path) -> None:
    """The message says which setting, where it came from, and what stood there."""
    with pytest.raises(SettingsError, match=r"concurrency \(from SKILLMARK_CONCURRENCY\).*found 'many'"):
        resolve({}, environment={"SKILLMARK_CONCURRENCY": "many"}, folder=tmp_path)


@pytest.mark.parametrize(
    "entry", ["WEATHER_TOKEN", "WEATHER_*", "WEATHER_TOKEN@api.example.com", "T@127.0.0.1:8000", "T@[::1]:8000"]
)
def test_variables_for_skills_are_granted_one_by_one(tmp_path: Path, entry: str) -> None:
    """A name or the start of one, and perhaps the host that it is for; by flag, environment or file."""
    (tmp_path / "skillmark.toml").write_text(f'auth-env = ["{entry}"]\n')

    from_file = resolve({}, environment={}, folder=tmp_path)
    from_environment = resolve({}, environment={"SKILLMARK_AUTH_ENV": f"{entry},OTHER"}, folder=tmp_path)

    assert from_file.settings.auth_env == (entry,)
    assert from_environment.settings.auth_env == (entry, "OTHER")


@pytest.mark.parametrize("entry", ["*", "env:TOKEN", "TOKEN=value", "A B", "TOKEN@", "TOKEN@http://a", "@host", ""])
def test_a_grant_of_another_form_is_refused(tmp_path: Path, entry: str) -> None:
    """What would grant everything, or nothing, is a mistake; the message shows the forms there are."""
    with pytest.raises(SettingsError, match=r"WEATHER_TOKEN@api\.example\.com"):
        resolve({"auth_env": (entry,)}, environment={}, folder=tmp_path)


@pytest.mark.parametrize(
    ("text", "told"),
    [
        ("concurency = 3", "concurency: expected one of"),
        ("concurrency = 0", "concurrency (from"),
        ('concurrency = "many"', "concurrency (from"),
        ('allow-network = ["127.0.0.0/99"]', "expected a network such as 127.0.0.0/8"),
        ("concurrency", "expected a readable TOML file"),
    ],
)
def test_a_wrong_file_is_refused_by_key(tmp_path: Path, text: str, told: str) -> None:
    """An unknown key or a value that does not fit is named, with the file it stands in."""
    (tmp_path / "skillmark.toml").write_text(text)

    with pytest.raises(SettingsError) as refused:
        resolve({}, environment={}, folder=tmp_path)

    assert told in str(refused.value)
    assert "skillmark.toml" in str(refused.value)


def test_a_password_is_never_shown() -> None:
    """A URL is shown without its password, whatever characters that has."""
    assert redacted("amqp://me:p@ss@host:5672/v") == "amqp://me:***@host:5672/v"
    assert redacted("amqp://host/") == "amqp://host/"


def test_a_variable_that_nobody_reads_is_told_with_the_one_it_resembles(tmp_path: Path) -> None:
    """A mistyped setting changes nothing, and silence would look as if it did; the judge's variables are known."""
    environment = {
        "SKILLMARK_BROKR": "amqp://host",
        "SKILLMARK_ZZZ": "1",
        BASE_URL: "http://judge",
        MODEL: "m",
        "X": "1",
    }

    found = resolve({}, environment=environment, folder=tmp_path)

    assert found.settings == Settings()
    mistyped, strange = found.warnings
    assert "SKILLMARK_BROKR is no setting" in mistyped
    assert "did you mean SKILLMARK_BROKER?" in mistyped
    assert "SKILLMARK_ZZZ is no setting" in strange
    assert "skillmark config show" in strange


@pytest.mark.parametrize(
    ("variable", "value", "told"),
    [
        ("SKILLMARK_ALLOW_NETWORK", "10.1.2.3/16", "expected a network such as 10.1.0.0/16, found: 10.1.2.3/16"),
        ("SKILLMARK_ALLOW_NETWORK", "home", "expected a network such as 127.0.0.0/8"),
        ("SKILLMARK_ALLOW_EXEC", "yes", "expected true or false; found 'yes'"),
    ],
)
def test_a_value_that_does_not_fit_is_told_with_one_that_would(
    tmp_path: Path, variable: str, value: str, told: str
) -> None:
    """An address in place of its network is answered with the network."""
    with pytest.raises(SettingsError) as refused:
        resolve({}, environment={variable: value}, folder=tmp_path)

    assert variable in str(refused.value)
    assert told in str(refused.value)
