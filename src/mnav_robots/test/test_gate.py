"""The velocity gate: limits, ramps, watchdog, emergency stop."""

from __future__ import annotations

import math

import pytest
from hypothesis import given
from hypothesis import strategies as st

from mnav_core.motion import STOP, Velocity
from mnav_core.robot import Limits
from mnav_robots.gate import GateState, VelocityGate

LIMITS = Limits(vx_max=0.5, vx_min=-0.2, wz_max=0.8, accel=1.0, decel=2.5, angular_accel=3.0, angular_decel=4.0)


def drive(gate: VelocityGate, velocity: Velocity, begin_s: float, ticks: int) -> Velocity:
    """Command and step at 20 Hz; the last output."""
    out = STOP
    for k in range(ticks):
        gate.command(velocity, begin_s + 0.05 * k)
        out = gate.step(begin_s + 0.05 * k).velocity
    return out


def test_ramps_up_with_the_acceleration_and_clamps() -> None:
    gate = VelocityGate(LIMITS)
    assert drive(gate, Velocity(9.0, 0.0, 0.0), 0.0, 1).vx == pytest.approx(0.05)
    assert drive(gate, Velocity(9.0, 0.0, -9.0), 0.05, 19) == Velocity(0.5, 0.0, -0.8)
    assert gate.counts.clamped == 20


def test_sideways_is_taken_away_from_a_differential_base() -> None:
    assert drive(VelocityGate(LIMITS), Velocity(0.0, 0.3, 0.0), 0.0, 10) == STOP


def test_commanded_rest_is_passed_on_at_once_and_a_slower_speed_is_ramped() -> None:
    gate = VelocityGate(LIMITS)
    drive(gate, Velocity(0.5, 0.0, 0.8), 0.0, 20)
    assert drive(gate, Velocity(0.1, 0.0, 0.0), 1.0, 1).vx == pytest.approx(0.375)
    assert drive(gate, STOP, 1.05, 1) == STOP


def test_a_reversal_goes_through_zero() -> None:
    gate = VelocityGate(LIMITS)
    drive(gate, Velocity(0.1, 0.0, 0.0), 0.0, 10)
    assert drive(gate, Velocity(-0.2, 0.0, 0.0), 0.5, 1).vx == 0.0
    assert drive(gate, Velocity(-0.2, 0.0, 0.0), 0.55, 1).vx == pytest.approx(-0.05)


def test_silence_stops_the_base_after_the_timeout() -> None:
    gate = VelocityGate(LIMITS)
    drive(gate, Velocity(0.5, 0.0, 0.0), 0.0, 20)
    assert gate.step(0.95 + 0.29).velocity.vx == 0.5
    late = gate.step(0.95 + 0.31)
    assert late.velocity == STOP and late.state is GateState.STALE and gate.counts.stale == 1
    assert gate.step(1.4).state is GateState.STALE and gate.counts.stale == 1


def test_a_command_from_the_future_is_stale() -> None:
    gate = VelocityGate(LIMITS)
    gate.command(Velocity(0.5, 0.0, 0.0), 100.0)
    assert gate.step(5.0).state is GateState.STALE


@pytest.mark.parametrize("bad", [math.nan, math.inf, -math.inf])
def test_numbers_that_are_not_finite_are_rest_and_counted(bad: float) -> None:
    gate = VelocityGate(LIMITS)
    drive(gate, Velocity(0.05, 0.0, 0.0), 0.0, 5)
    assert drive(gate, Velocity(0.1, 0.0, bad), 0.25, 1) == STOP
    assert gate.counts.not_finite == 1


def test_the_emergency_stop_is_latched_and_forgets_what_was_commanded() -> None:
    gate = VelocityGate(LIMITS)
    drive(gate, Velocity(0.5, 0.0, 0.0), 0.0, 20)
    gate.emergency_stop(True)
    stopped = gate.step(1.0)
    assert stopped.velocity == STOP and stopped.state is GateState.EMERGENCY_STOP
    assert drive(gate, Velocity(0.5, 0.0, 0.0), 1.05, 20) == STOP
    gate.emergency_stop(False)
    assert gate.step(2.05).state is GateState.IDLE
    assert drive(gate, Velocity(0.5, 0.0, 0.0), 2.1, 1).vx == pytest.approx(0.05)
    assert gate.counts.emergency_stops == 1


def test_a_long_pause_does_not_let_the_base_leap() -> None:
    gate = VelocityGate(LIMITS)
    gate.step(0.0)
    gate.command(Velocity(0.5, 0.0, 0.0), 60.0)
    assert gate.step(60.0).velocity.vx == pytest.approx(0.2)


any_number = st.floats(allow_nan=True, allow_infinity=True)


@given(st.lists(st.tuples(any_number, any_number, any_number, st.floats(0.0, 1.0)), max_size=30))
def test_whatever_is_commanded_the_output_is_finite_and_within_the_limits(commands: list[tuple[float, ...]]) -> None:
    gate, now_s = VelocityGate(LIMITS), 0.0
    last = STOP
    for vx, vy, wz, dt in commands:
        now_s += dt
        gate.command(Velocity(vx, vy, wz), now_s)
        out = gate.step(now_s).velocity
        assert -0.2 <= out.vx <= 0.5 and out.vy == 0.0 and abs(out.wz) <= 0.8
        assert abs(out.vx) - abs(last.vx) <= LIMITS.accel * max(0.05, dt) + 1e-9
        last = out


@pytest.mark.parametrize("timeout_s", [0.0, -1.0, math.nan])
def test_a_bad_timeout_is_refused_by_name(timeout_s: float) -> None:
    with pytest.raises(ValueError, match="timeout_s"):
        VelocityGate(LIMITS, timeout_s)
