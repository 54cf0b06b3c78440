"""300 turns with four images each: requests, images and memory stay bounded, goals and evidence stay whole."""

from __future__ import annotations

import os
from pathlib import Path

import numpy as np

from mnav_core.chat import ChatRequest, ImagePart, ToolUse, TurnOutcome
from mnav_models.conversation import ContextBudget, Conversation, NoteOutcome
from mnav_models.endpoint import parse_endpoint
from mnav_models.endpoint_model import open_endpoint
from mnav_models.images import ImageBudget, encode_image
from mnav_models.testing.behaviours import GOOD_CALL
from mnav_models.testing.fault_server import FaultServer
from mnav_models.testing.scripted_tools import LOOK, TURN

TURNS = 300
VIEWS = ("front", "right", "back", "left")
GOALS = {"g1": "find the egg", "g2": "say whether the bathroom light is on"}
PAGE = os.sysconf("SC_PAGE_SIZE")


def resident_bytes() -> int:
    return int(Path("/proc/self/statm").read_text().split()[1]) * PAGE


def pictures() -> list[bytes]:
    """JPEGs whose sizes differ, as those of a moving camera do."""
    draw = np.random.default_rng(3)
    made = []
    for number in range(16):
        noise = draw.integers(0, 40 + 4 * number, (240, 320, 3), dtype=np.uint8)
        made.append(encode_image(noise, "n", "n", ImageBudget(max_bytes=40_000)).jpeg)
    return made


def test_requests_stay_bounded_and_nothing_important_is_lost() -> None:
    draw = np.random.default_rng(5)
    jpegs = pictures()
    conversation = Conversation("You drive a robot through a house.", ContextBudget(max_images=8))
    for goal, text in GOALS.items():
        conversation.set_goal(goal, text)
    noted: dict[str, str] = {}
    request_bytes: list[int] = []
    images: list[int] = []
    memory: list[int] = []
    with FaultServer([GOOD_CALL], keep_bodies=False) as server:
        model = open_endpoint(parse_endpoint(f"{server.url}#scripted"))
        conversation.observe("You are in a hallway.")
        for turn_number in range(TURNS):
            messages = conversation.messages()
            sent = "\n".join(message.text for message in messages)
            assert all(text in sent for text in (*GOALS.values(), *noted.values()))
            images.append(sum(len(message.images) for message in messages))
            turn = model.ask(ChatRequest(messages, (TURN, LOOK), ToolUse.REQUIRED), 10.0)
            assert turn.outcome is TurnOutcome.TOOL_CALLS
            request_bytes.append(turn.usage.request_bytes)
            memory.append(resident_bytes())
            conversation.add_turn(turn)
            parts = [
                ImagePart(bytes(bytearray(jpegs[draw.integers(16)])), f"{view}/{turn_number}", f"{view} view", 320, 240)
                for view in VIEWS
            ]
            report = f"REACHED after {draw.uniform(0.2, 4.0):.2f} m; " + "the corridor goes on. " * int(
                draw.integers(1, 12)
            )
            conversation.add_result(turn.tool_calls[0], report, *parts)
            if turn_number % 10 == 0:
                key, finding = (
                    f"room {turn_number}",
                    f"room {turn_number} has no egg, its door is at {turn_number / 7:.2f} m",
                )
                assert conversation.note_evidence(key, finding) is NoteOutcome.ADDED
                noted[key] = finding
        model.close()
        assert server.wait_until_no_connection(timeout_s=3.0)
    bytes_ratio = max(request_bytes[200:]) / max(request_bytes[50:150])
    grown = max(memory[200:]) - max(memory[50:150])
    print(f"bytes ratio {bytes_ratio:.3f}, memory {grown / 1e6:+.2f} MB, images {max(images[200:])}")
    assert len(noted) == 30
    assert max(images[200:]) == 4 and max(images[200:]) <= 1.1 * max(images[50:150])
    assert bytes_ratio <= 1.1
    # Four pictures of about 25 kB are there each time, so that the bound above bounds something.
    assert min(request_bytes[1:]) > 60_000
    assert grown < 4_000_000
