"""Asking the nodes of a running system how they are."""

from __future__ import annotations

import os
import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

# Mostly 0.2 s, but a participant that missed the first announcements waits for the next, 3 s later.
DISCOVERY_S = 4.0
SERVICES_S = 0.3
ANSWER_S = 1.0
# A simulation says once a second how fast its time goes.
PACE_S = 1.5
REAL_TIME_FACTOR = "real_time_factor"
NO_ANSWER = "no answer"
PLAIN = "-"


@dataclass(frozen=True)
class GraphState:
    """What a look at a graph showed: lifecycle states by full name, and the real-time factor of its simulation."""

    states: dict[str, str]
    real_time_factor: float | None


def probe_graph(
    nodes: Sequence[str], domain: int, environment: Mapping[str, str], awaits_pace: bool = False
) -> GraphState:
    """Look at each node by full name, within about 5 s; `awaits_pace`: wait for a simulation's real-time factor too.

    A node that is in the graph but is no lifecycle node has "-"; one that is not there, or silent, has "no answer".
    `environment` is the system's, since transports must agree; it is put into this process's environment.
    """
    os.environ.update(environment)
    import rclpy
    from diagnostic_msgs.msg import DiagnosticArray
    from lifecycle_msgs.srv import GetState
    from rclpy.context import Context
    from rclpy.executors import SingleThreadedExecutor

    context = Context()
    rclpy.init(args=[], context=context, domain_id=domain)
    probe = rclpy.create_node(
        f"mnav_status_{os.getpid()}", context=context, enable_rosout=False, start_parameter_services=False
    )
    executor = SingleThreadedExecutor(context=context)
    executor.add_node(probe)
    factors: list[float] = []
    began = time.monotonic()
    probe.create_subscription(DiagnosticArray, "/diagnostics", lambda message: factors.extend(_factors(message)), 10)
    try:
        clients = {name: probe.create_client(GetState, f"{name}/get_state") for name in nodes}
        present: set[str] = set()
        deadline = time.monotonic() + DISCOVERY_S
        while time.monotonic() < deadline and not present.issuperset(nodes):
            executor.spin_once(timeout_sec=0.05)
            present = {f"{namespace.rstrip('/')}/{name}" for name, namespace in probe.get_node_names_and_namespaces()}
        # Services are announced just after the node that has them.
        deadline = time.monotonic() + SERVICES_S
        while time.monotonic() < deadline and not all(client.service_is_ready() for client in clients.values()):
            executor.spin_once(timeout_sec=0.05)
        calls = {
            name: client.call_async(GetState.Request()) for name, client in clients.items() if client.service_is_ready()
        }
        deadline = time.monotonic() + ANSWER_S
        while time.monotonic() < deadline and not all(call.done() for call in calls.values()):
            executor.spin_once(timeout_sec=0.05)
        states = {}
        for name in nodes:
            if name in calls:
                states[name] = calls[name].result().current_state.label if calls[name].done() else NO_ANSWER
            else:
                states[name] = PLAIN if name in present else NO_ANSWER
        while awaits_pace and not factors and time.monotonic() < max(deadline, began + DISCOVERY_S + PACE_S):
            executor.spin_once(timeout_sec=0.05)
        return GraphState(states, factors[-1] if factors else None)
    finally:
        executor.shutdown(timeout_sec=0.5)
        probe.destroy_node()
        context.try_shutdown()


def _factors(message: Any) -> list[float]:
    """Real-time factors in a diagnostics message."""
    values = [value for status in message.status for value in status.values]
    return [float(value.value) for value in values if value.key == REAL_TIME_FACTOR]
