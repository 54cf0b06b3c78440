"""What stays, what goes, and that what goes says so."""

from __future__ import annotations

import pytest

from mnav_core.chat import ChatTurn, ImagePart, Role, ToolCall, TurnOutcome
from mnav_core.errors import UsageError
from mnav_models.conversation import ContextBudget, Conversation, NoteOutcome
from mnav_models.testing.scripted_tools import TurnArguments


def picture(name: str) -> ImagePart:
    return ImagePart(name.encode(), name, f"view {name}", 4, 3)


def call(number: int) -> ToolCall:
    return ToolCall(f"call_{number}", "turn", TurnArguments(angle_deg=float(number % 90)))


def turned(number: int) -> ChatTurn:
    return ChatTurn(TurnOutcome.TOOL_CALLS, tool_calls=(call(number),))


def shown(conversation: Conversation) -> list[str]:
    return [image.image_id for message in conversation.messages() for image in message.images]


def text_of(conversation: Conversation) -> str:
    return "\n".join(message.text for message in conversation.messages())


def test_answered_and_superseded_images_leave_user_and_tool_messages() -> None:
    conversation = Conversation("system")
    conversation.observe("start", picture("a"))
    conversation.add_turn(turned(1))
    assert shown(conversation) == ["a"], "answered, not yet superseded"
    conversation.add_result(call(1), "done", picture("b"))
    assert shown(conversation) == ["b"]
    assert "[image view a (a) is no longer attached]" in text_of(conversation)
    conversation.add_turn(turned(2))
    conversation.add_result(call(2), "done", picture("c"))
    assert shown(conversation) == ["c"]


def test_unanswered_images_stay_up_to_the_budget() -> None:
    conversation = Conversation("system", ContextBudget(max_images=3))
    for name in "abcde":
        conversation.observe(picture(name))
    assert shown(conversation) == ["c", "d", "e"]
    conversation.observe(*(picture(name) for name in "vwxyz"))
    assert shown(conversation) == ["x", "y", "z"]


def test_goal_images_stay_and_count() -> None:
    conversation = Conversation("system", ContextBudget(max_images=2))
    conversation.set_goal("g", "find this", [picture("goal")])
    for number in range(3):
        conversation.observe(picture(f"seen{number}"))
        conversation.add_turn(turned(number))
    assert shown(conversation) == ["goal", "seen2"]


def test_calls_and_their_results_leave_together() -> None:
    conversation = Conversation("system", ContextBudget(recent_turns=3))
    for number in range(20):
        conversation.add_turn(turned(number))
        conversation.add_result(call(number), f"result {number}")
    messages = conversation.messages()
    called = [c.call_id for m in messages for c in m.tool_calls]
    answered = [m.call_id for m in messages if m.role is Role.TOOL]
    assert called == answered == ["call_17", "call_18", "call_19"]
    assert "turn 17: turn" in text_of(conversation) and "result 16" in text_of(conversation)


def test_what_is_left_out_is_counted() -> None:
    conversation = Conversation("system", ContextBudget(recent_turns=1, earlier_chars=150))
    for number in range(10):
        conversation.add_turn(turned(number))
        conversation.add_result(call(number), "x" * 300)
    assert "(9 turns before these are left out)" in text_of(conversation)
    assert len(text_of(conversation)) < 1_000


def test_long_results_say_that_they_are_shortened() -> None:
    conversation = Conversation("system", ContextBudget(message_chars=200))
    conversation.observe("y" * 5_000)
    assert "(5000 characters, shortened)" in text_of(conversation)
    assert max(len(m.text) for m in conversation.messages()) == 200


def test_observations_that_nobody_asks_about_do_not_pile_up() -> None:
    conversation = Conversation("system")
    for number in range(2_000):
        conversation.observe(f"observation {number} " + "z" * 100)
    assert len(text_of(conversation)) < 20_000
    assert "observation 1999" in text_of(conversation) and "observations are left out" in text_of(conversation)


def test_evidence_is_kept_whole_or_refused() -> None:
    conversation = Conversation("system", ContextBudget(evidence_items=2))
    assert conversation.note_evidence("kitchen", "no egg") is NoteOutcome.ADDED
    assert conversation.note_evidence("kitchen", "an egg on the table") is NoteOutcome.REPLACED
    assert conversation.note_evidence("hall", "x" * 401) is NoteOutcome.REFUSED_TOO_LONG
    assert conversation.note_evidence("hall", "dark") is NoteOutcome.ADDED
    assert conversation.note_evidence("bath", "lit") is NoteOutcome.REFUSED_FULL
    conversation.retract_evidence("hall")
    assert conversation.note_evidence("bath", "lit") is NoteOutcome.ADDED
    assert conversation.evidence == {"kitchen": "an egg on the table", "bath": "lit"}
    assert "- kitchen: an egg on the table" in text_of(conversation) and "dark" not in text_of(conversation)


def test_goals_are_checked_and_dropped() -> None:
    conversation = Conversation("system", ContextBudget(max_images=1))
    with pytest.raises(UsageError, match="2001 characters"):
        conversation.set_goal("g", "x" * 2_001)
    with pytest.raises(UsageError, match="2 images"):
        conversation.set_goal("g", "these", [picture("a"), picture("b")])
    conversation.set_goal("g", "find the egg")
    conversation.drop_goal("g")
    conversation.drop_goal("never set")
    assert "egg" not in text_of(conversation)


def test_refused_turns_leave_no_trace() -> None:
    conversation = Conversation("system")
    conversation.observe("start")
    before = conversation.messages()
    conversation.add_turn(ChatTurn(TurnOutcome.TIMED_OUT))
    assert conversation.messages() == before


@pytest.mark.parametrize("wrong", [{"max_images": -1}, {"recent_turns": 0}, {"message_chars": 10}])
def test_budgets_are_checked(wrong: dict[str, int]) -> None:
    with pytest.raises(UsageError, match="allowed is >="):
        ContextBudget(**wrong)
