"""Endpoints by name, keys that nobody sees, and an environment that changes nothing."""

from __future__ import annotations

import logging
import pickle
import sys
from datetime import datetime, timezone
from pathlib import Path
from random import Random

import pytest

from mnav_core.chat import TurnOutcome
from mnav_core.errors import UsageError
from mnav_models.api_key import key_from_file, key_from_keyring
from mnav_models.circuit_breaker import CircuitBreaker
from mnav_models.endpoint import Patience, parse_endpoint
from mnav_models.endpoint_model import open_endpoint
from mnav_models.open_model import open_model
from mnav_models.replay import record
from mnav_models.retry import backoff_s, retry_after_s
from mnav_models.testing.behaviours import GOOD_CALL, echoes_key
from mnav_models.testing.fault_server import FaultServer
from mnav_models.testing.scripted_tools import turn_request

SECRET = "sk-test-0123456789abcdef"


def key_file(folder: Path, text: str = SECRET + "\n", mode: int = 0o600) -> Path:
    path = folder / "key"
    path.write_text(text, "utf-8")
    path.chmod(mode)
    return path


@pytest.mark.parametrize(
    ("spec", "base_url", "model"),
    [
        ("http://127.0.0.1:8000/v1#qwen", "http://127.0.0.1:8000/v1", "qwen"),
        ("https://host.example/api/v1/#org/model:7b", "https://host.example/api/v1", "org/model:7b"),
        ("http://[::1]:9/v1#m", "http://[::1]:9/v1", "m"),
    ],
)
def test_endpoints_by_name(spec: str, base_url: str, model: str) -> None:
    endpoint = parse_endpoint(spec)
    assert (endpoint.base_url, endpoint.model) == (base_url, model)


@pytest.mark.parametrize(
    "spec",
    [
        "",
        "qwen",
        "ftp://h/v1#m",
        "http://h/v1",
        "http://#m",
        "http://h:99999/v1#m",
        "http://h/v1?k=v#m",
        "http://[x/v1#m",
    ],
)
def test_what_is_no_endpoint_is_refused(spec: str) -> None:
    with pytest.raises(UsageError, match="allowed"):
        parse_endpoint(spec)


def test_credentials_in_a_url_are_refused_and_not_repeated() -> None:
    with pytest.raises(UsageError) as error:
        parse_endpoint(f"http://user:{SECRET}@host/v1#m")
    assert SECRET not in str(error.value)


def test_key_is_sent_and_never_shown(tmp_path: Path, caplog: pytest.LogCaptureFixture) -> None:
    caplog.set_level(logging.DEBUG)
    key = key_from_file(key_file(tmp_path))
    with FaultServer([GOOD_CALL, echoes_key]) as server:
        endpoint = parse_endpoint(f"{server.url}#scripted", key)
        inner = open_endpoint(endpoint)
        model = record(inner, tmp_path / "turns.jsonl")
        model.ask(turn_request(), 5.0)
        echoed = model.ask(turn_request(), 5.0)
        model.close()
        assert server.seen[0].headers["Authorization"] == f"Bearer {SECRET}"
    assert echoed.outcome is TurnOutcome.UNAUTHORIZED and "***" in echoed.reason
    shown = [caplog.text, repr(endpoint), repr(inner), repr(key), str(key), model.name, repr(echoed)]
    shown.append((tmp_path / "turns.jsonl").read_text("utf-8"))
    assert caplog.text
    assert not any(SECRET in text for text in shown)
    with pytest.raises(TypeError):
        pickle.dumps(key)


def test_environment_changes_nothing(monkeypatch: pytest.MonkeyPatch) -> None:
    for name, value in {
        "OPENAI_API_KEY": SECRET,
        "OPENAI_BASE_URL": "http://127.0.0.1:1/v1",
        "OPENAI_ORG_ID": "someone",
        "OPENAI_PROJECT_ID": "something",
        "OPENAI_CUSTOM_HEADERS": f"X-Extra: {SECRET}",
        "HTTP_PROXY": "http://127.0.0.1:1",
        "ALL_PROXY": "http://127.0.0.1:1",
    }.items():
        monkeypatch.setenv(name, value)
    with FaultServer([GOOD_CALL]) as server:
        model = open_endpoint(parse_endpoint(f"{server.url}#scripted"))
        assert model.ask(turn_request(), 5.0).outcome is TurnOutcome.TOOL_CALLS
        model.close()
        headers = {name.lower(): value for name, value in server.seen[0].headers.items()}
    assert not {"authorization", "openai-organization", "openai-project", "x-extra"} & set(headers)
    assert SECRET not in str(headers)


@pytest.mark.parametrize(
    ("text", "mode", "message"),
    [
        (SECRET, 0o644, "640|644.*chmod 600"),
        ("", 0o600, "1 to 512"),
        ("two words", 0o600, "1 to 512"),
        ("k" * 513, 0o600, "1 to 512"),
        ("schlüssel", 0o600, "1 to 512"),
    ],
)
def test_key_files_are_checked(tmp_path: Path, text: str, mode: int, message: str) -> None:
    with pytest.raises(UsageError, match=message) as error:
        key_from_file(key_file(tmp_path, text, mode))
    assert SECRET not in str(error.value)


def test_missing_key_file(tmp_path: Path) -> None:
    with pytest.raises(UsageError, match="FileNotFoundError"):
        key_from_file(tmp_path / "absent")


def test_missing_keyring_says_what_to_do(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "keyring", None)
    with pytest.raises(UsageError, match="install `keyring` or give a key file"):
        key_from_keyring("mnav-endpoint")


def test_models_by_name(tmp_path: Path) -> None:
    assert open_model("builtin") is None
    model = open_model("http://127.0.0.1:1/v1#m", str(key_file(tmp_path)))
    assert model is not None and model.name == "http://127.0.0.1:1/v1#m"
    model.close()
    with pytest.raises(UsageError, match=r"allowed is builtin, replay:FILE or http"):
        open_model("gpt-something")
    with pytest.raises(UsageError, match="replay file"):
        open_model(f"replay:{tmp_path / 'absent'}")


def test_breaker_opens_tries_once_and_closes() -> None:
    breaker = CircuitBreaker(failures_to_open=2, cooldown_s=10.0)
    breaker.failed(0.0)
    breaker.succeeded()
    breaker.failed(1.0)
    assert breaker.admits(1.0)
    breaker.failed(2.0)
    assert not breaker.admits(11.9) and breaker.retry_in_s(7.0) == 5.0
    assert breaker.admits(12.0) and not breaker.admits(12.0), "one trial at a time"
    breaker.undecided()
    assert breaker.admits(12.0)
    breaker.failed(13.0)
    assert not breaker.admits(22.9) and breaker.admits(23.0)
    breaker.succeeded()
    assert breaker.admits(23.0) and breaker.admits(23.0) and breaker.retry_in_s(23.0) == 0.0


def test_backoff_doubles_up_to_its_limit_with_full_jitter() -> None:
    patience = Patience(backoff_s=0.5, backoff_max_s=3.0)
    draws = {n: [backoff_s(patience, n, Random(seed)) for seed in range(300)] for n in (1, 2, 3, 4, 60)}
    for attempt, ceiling in {1: 0.5, 2: 1.0, 3: 2.0, 4: 3.0, 60: 3.0}.items():
        assert 0.95 * ceiling < max(draws[attempt]) <= ceiling
        assert 0.0 <= min(draws[attempt]) < 0.05 * ceiling


@pytest.mark.parametrize(
    ("header", "seconds"),
    [
        (None, None),
        ("7", 7.0),
        ("999999", 3600.0),
        ("Wed, 21 Oct 2026 07:28:30 GMT", 30.0),
        ("Wed, 21 Oct 2015 07:28:00 GMT", 0.0),
        ("soon", None),
        ("-5", None),
        ("1.5", None),
        ("٣", None),
    ],
)
def test_retry_after(header: str | None, seconds: float | None) -> None:
    now = datetime(2026, 10, 21, 7, 28, 0, tzinfo=timezone.utc)
    assert retry_after_s(header, now) == seconds


@pytest.mark.parametrize("field", ["attempt_s", "attempts", "max_response_bytes"])
def test_patience_is_checked(field: str) -> None:
    with pytest.raises(UsageError, match=f"{field} is 0, allowed is > 0"):
        Patience(**{field: 0})
