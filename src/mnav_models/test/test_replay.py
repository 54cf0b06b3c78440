"""Recordings: written once, played in order, and never guessed from."""

from __future__ import annotations

import json
import re
from pathlib import Path

import pytest

from mnav_core.chat import ChatRequest, ImagePart, ModelFault, ToolSchema, ToolUse, TurnOutcome, user_message
from mnav_core.errors import UsageError
from mnav_models.endpoint import parse_endpoint
from mnav_models.endpoint_model import open_endpoint
from mnav_models.replay import open_replay, record
from mnav_models.testing.behaviours import calls, says
from mnav_models.testing.fault_server import FaultServer
from mnav_models.testing.scripted_tools import LookArguments, TurnArguments, turn_request

PICTURE = ImagePart(b"jpeg bytes", "front/1", "front", 4, 3)
FIRST = ChatRequest((user_message("Look.", PICTURE),))
SECOND = turn_request()


@pytest.fixture
def recording(tmp_path: Path) -> Path:
    """A text turn and a call."""
    path = tmp_path / "turns.jsonl"
    with FaultServer([says("I see a door."), calls(("call_1", "turn", '{"angle_deg": 30}'))]) as server:
        model = record(open_endpoint(parse_endpoint(f"{server.url}#scripted")), path)
        model.ask(FIRST, 5.0)
        model.ask(SECOND, 5.0)
        model.close()
    return path


@pytest.mark.parametrize(
    ("changed", "where"),
    [
        (ChatRequest((user_message("Look!", PICTURE),)), r'parts\[0\]\.text: recorded "Look\.", asked "Look!"'),
        (ChatRequest((user_message("Look.", ImagePart(b"x", "front/1", "front", 4, 3)),)), r"parts\[1\]\.image"),
        (ChatRequest((user_message("Look."),)), r"parts has 2 items recorded, 1 asked"),
        (ChatRequest((user_message("Look.", PICTURE),), seed=1), r"request\.seed"),
        (ChatRequest((user_message("Look.", PICTURE),), max_output_tokens=7), r"request\.max_output_tokens"),
    ],
    ids=["text", "image", "parts", "seed", "tokens"],
)
def test_changed_request_is_reported_not_guessed(recording: Path, changed: ChatRequest, where: str) -> None:
    model = open_replay(recording)
    turn = model.ask(changed, 5.0)
    assert turn.outcome is TurnOutcome.REPLAY_MISMATCH
    assert turn.text == "" and turn.tool_calls == ()
    assert re.search(where, turn.reason), turn.reason
    assert model.ask(FIRST, 5.0).text == "I see a door.", "a mismatch uses nothing up"


def test_changed_schema_is_reported(recording: Path) -> None:
    model = open_replay(recording)
    model.ask(FIRST, 5.0)
    other = ToolSchema("turn", "Turn in place.", LookArguments)
    turn = model.ask(ChatRequest(SECOND.messages, (other, SECOND.tools[1]), ToolUse.REQUIRED), 5.0)
    assert turn.outcome is TurnOutcome.REPLAY_MISMATCH and "tools[0].parameters" in turn.reason


def test_order_and_end_are_kept(recording: Path) -> None:
    model = open_replay(recording)
    assert model.ask(SECOND, 5.0).outcome is TurnOutcome.REPLAY_MISMATCH
    assert model.ask(FIRST, 5.0).outcome is TurnOutcome.TEXT
    assert model.ask(SECOND, 5.0).tool_calls[0].arguments == TurnArguments(angle_deg=30.0)
    after = model.ask(SECOND, 5.0)
    assert after.outcome is TurnOutcome.REPLAY_MISMATCH and "holds 2 turns" in after.reason


def test_edited_arguments_are_validated_anew(recording: Path) -> None:
    text = recording.read_text("utf-8").replace('{\\"angle_deg\\":30.0}', '{\\"angle_deg\\":3000.0}')
    recording.write_text(text, "utf-8")
    model = open_replay(recording)
    model.ask(FIRST, 5.0)
    turn = model.ask(SECOND, 5.0)
    assert turn.outcome is TurnOutcome.INVALID_OUTPUT and turn.faults == (ModelFault.SCHEMA_VIOLATION,)
    assert "angle_deg" in turn.reason


def test_images_are_not_in_the_recording(recording: Path) -> None:
    assert "jpeg bytes" not in recording.read_text("utf-8")


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("", "format None"),
        ("[]\n", "line 1: not a JSON object"),
        ("{\n", "line 1: not JSON"),
        ('{"format": "other/9"}\n', "format 'other/9'"),
        ('{"format": "mnav-turns/1"}\n{"request": {}}\n', "line 2: request, digest and turn"),
    ],
)
def test_what_is_no_recording_is_refused(tmp_path: Path, text: str, message: str) -> None:
    path = tmp_path / "turns.jsonl"
    path.write_text(text, "utf-8")
    with pytest.raises(UsageError, match=message):
        open_replay(path)


def test_missing_and_binary_files_are_refused(tmp_path: Path) -> None:
    with pytest.raises(UsageError, match=r"absent\.jsonl"):
        open_replay(tmp_path / "absent.jsonl")
    (tmp_path / "binary").write_bytes(b"\xff\xfe\x00")
    with pytest.raises(UsageError, match="binary"):
        open_replay(tmp_path / "binary")


def test_recording_overwrites_nothing(recording: Path) -> None:
    with pytest.raises(UsageError, match="a new file"):
        record(open_replay(recording), recording)
    assert json.loads(recording.read_text("utf-8").splitlines()[0])["model"].endswith("#scripted")
