"""Publishers and subscriptions that do not fit each other."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from mnav_cli.doctor.findings import Finding, bad, warning


@dataclass(frozen=True)
class Endpoint:
    """One end of a topic: its node, its type with the hash of its definition, and its quality of service."""

    node: str
    kind: str
    definition: str
    is_reliable: bool
    is_latched: bool


def mismatches(topic: str, publishers: Sequence[Endpoint], subscriptions: Sequence[Endpoint]) -> list[Finding]:
    """Pairs of which nothing will ever be heard, each with both nodes' names."""
    found = []
    for sender in publishers:
        for receiver in subscriptions:
            pair = f"{sender.node} -> {receiver.node}"
            if sender.kind != receiver.kind:
                fix = "give one of the two another topic name"
                found.append(bad(f"type of {topic}", f"{pair}: {sender.kind} and {receiver.kind}", fix))
                continue
            if sender.definition and receiver.definition and sender.definition != receiver.definition:
                text = f"{pair}: two definitions of {sender.kind}"
                found.append(warning(f"type of {topic}", text, "build both machines from the same version"))
            if receiver.is_reliable and not sender.is_reliable:
                fix = f"make {receiver.node} subscribe best effort, or {sender.node} publish reliable"
                found.append(bad(f"QoS of {topic}", f"{pair}: best effort cannot serve reliable", fix))
            if receiver.is_latched and not sender.is_latched:
                fix = f"make {sender.node} publish transient local, or {receiver.node} subscribe volatile"
                found.append(bad(f"QoS of {topic}", f"{pair}: volatile cannot serve transient local", fix))
    return found
