"""The transform buffer: interpolation, age, clock jumps, loops."""

import math

import pytest
from hypothesis import given
from hypothesis import strategies as st

from mnav_core.geometry import SE2, SE3
from mnav_core.transforms import LookupFault, TransformBuffer, TransformError


def at(x: float, yaw: float = 0.0) -> SE3:
    return SE2(x, 0.0, yaw).to_se3()


def fault_of(buffer: TransformBuffer, target: str, source: str, stamp_s: float) -> LookupFault:
    with pytest.raises(TransformError) as caught:
        buffer.lookup(target, source, stamp_s)
    return caught.value.fault


def moving() -> TransformBuffer:
    buffer = TransformBuffer(history_s=5.0, tolerance_s=0.05)
    buffer.set("map", "odom", at(10.0), 0.0, is_static=True)
    buffer.set("base", "camera", at(0.5), 0.0, is_static=True)
    for i in range(11):
        buffer.set("odom", "base", at(0.1 * i, 0.1 * i), 100.0 + 0.1 * i)
    return buffer


def test_between_two_samples_the_pose_is_interpolated() -> None:
    pose = moving().lookup("odom", "base", 100.25).to_se2()
    assert (pose.x, pose.yaw) == pytest.approx((0.25, 0.25))


def test_a_chain_goes_through_static_and_moving_frames() -> None:
    pose = moving().lookup("map", "camera", 100.5).to_se2()
    assert (pose.x, pose.y) == pytest.approx((10.5 + 0.5 * math.cos(0.5), 0.5 * math.sin(0.5)))


def test_the_way_back_is_the_inverse() -> None:
    buffer = moving()
    there, back = buffer.lookup("map", "camera", 100.3), buffer.lookup("camera", "map", 100.3)
    same = (there @ back).to_se2()
    assert (same.x, same.y, same.yaw) == pytest.approx((0.0, 0.0, 0.0), abs=1e-12)


def test_old_and_future_times_are_refused_by_name() -> None:
    buffer = moving()
    assert fault_of(buffer, "odom", "base", 99.9) is LookupFault.TOO_OLD
    assert fault_of(buffer, "odom", "base", 101.2) is LookupFault.TOO_NEW
    assert buffer.lookup("odom", "base", 101.04).to_se2().x == pytest.approx(1.0)


def test_unknown_unconnected_and_looping_frames_are_told_apart() -> None:
    buffer = moving()
    assert fault_of(buffer, "map", "gripper", 100.5) is LookupFault.UNKNOWN_FRAME
    buffer.set("other", "island", at(0.0), 0.0, is_static=True)
    assert fault_of(buffer, "map", "island", 100.5) is LookupFault.NOT_CONNECTED
    buffer.set("camera", "map", at(0.0), 0.0, is_static=True)
    assert fault_of(buffer, "odom", "camera", 100.5) is LookupFault.LOOP
    with pytest.raises(TransformError):
        buffer.set("base", "base", at(0.0), 0.0)


def test_the_history_is_bounded() -> None:
    buffer = TransformBuffer(history_s=1.0)
    for i in range(1000):
        buffer.set("odom", "base", at(0.0), 0.01 * i)
    assert fault_of(buffer, "odom", "base", 8.5) is LookupFault.TOO_OLD


def test_a_clock_that_goes_back_clears_what_moves_and_then_recovers() -> None:
    buffer = moving()
    buffer.set("odom", "base", at(7.0), 3.0)
    assert buffer.lookup("odom", "base", 3.0).to_se2().x == pytest.approx(7.0)
    assert fault_of(buffer, "odom", "base", 100.5) is LookupFault.TOO_NEW
    assert buffer.lookup("map", "odom", 3.0).to_se2().x == pytest.approx(10.0)


@given(st.lists(st.floats(0.0, 4.0), min_size=2, max_size=30, unique=True), st.floats(0.0, 1.0))
def test_samples_in_any_order_give_the_same_answer(stamps: list[float], fraction: float) -> None:
    forward, shuffled = TransformBuffer(), TransformBuffer()
    for stamp in sorted(stamps):
        forward.set("odom", "base", at(2.0 * stamp), stamp)
    for stamp in stamps:
        shuffled.set("odom", "base", at(2.0 * stamp), stamp)
    asked = min(stamps) + fraction * (max(stamps) - min(stamps))
    assert forward.lookup("odom", "base", asked).to_se2().x == pytest.approx(2.0 * asked, abs=1e-6)
    assert shuffled.lookup("odom", "base", asked).to_se2().x == pytest.approx(2.0 * asked, abs=1e-6)
