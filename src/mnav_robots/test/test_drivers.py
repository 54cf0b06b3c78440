"""The drivers' cores against the robots' own software: limits, traps, and a stop that always stops."""

from __future__ import annotations

import json
import math
import struct
from dataclasses import dataclass, field

import pytest
from hypothesis import given
from hypothesis import strategies as st

from mnav_core.geometry import SE2
from mnav_core.motion import STOP, Velocity
from mnav_core.sensing import Odometry
from mnav_robots.drift import DriftMonitor
from mnav_robots.go1 import wire
from mnav_robots.go1.link import REST, Go1Link
from mnav_robots.go2.sport import STOPS, SportCall, SportLink, move_request
from mnav_robots.held_command import HeldCommand
from mnav_robots.tracer.link import TracerLink
from mnav_robots.vendor_odometry import VendorOdometry

firmware = pytest.importorskip("mnav_sim_bridge.vendors.firmware")
links = pytest.importorskip("mnav_sim_bridge.vendors.links")

RATES_HZ = {"go2": 20.0, "go1": 50.0, "cobot_magic": 20.0}


@dataclass
class Bench:
    """One driver wired to its robot's software, in steps of 5 ms; commands come at the gate's 20 Hz."""

    name: str
    now_s: float = 10.0
    held: HeldCommand = field(default_factory=HeldCommand)
    sends: bool = True

    def __post_init__(self) -> None:
        self.link, self.robot = {
            "go2": lambda: (SportLink(self.held), firmware.Go2Firmware()),
            "go1": lambda: (Go1Link(self.held), firmware.Go1Firmware()),
            "cobot_magic": lambda: (TracerLink(self.held), firmware.TracerFirmware()),
        }[self.name]()
        self.next_s = self.now_s

    def beat(self) -> None:
        if self.name == "go2":
            for request in self.link.step(self.now_s):
                self.robot.request(int(request.call), request.parameter, self.now_s)
        elif self.name == "go1":
            self.robot.frame(wire.encode(self.link.step(self.now_s)), self.now_s)
        else:
            self.robot.twist(self.link.step(self.now_s), self.now_s)

    def run(self, seconds: float, command: Velocity | None) -> Velocity:
        """Let time pass with a command, or silence; what the robot does at the end."""
        end_s = self.now_s + seconds
        velocity = STOP
        tick = 0
        while self.now_s < end_s:
            if command is not None and tick % 10 == 0:
                self.held.take(command, self.now_s)
                if command == STOP:
                    self.beat()
            if self.sends and self.now_s >= self.next_s:
                self.next_s += 1.0 / RATES_HZ[self.name]
                self.beat()
            self.now_s += 0.005
            tick += 1
            velocity = self.robot.velocity(self.now_s)
        return velocity


@pytest.mark.parametrize("name", list(RATES_HZ))
@pytest.mark.parametrize("how", ["zero", "silence", "emergency stop"])
def test_a_stop_is_with_the_robot_at_once(name: str, how: str) -> None:
    bench = Bench(name)
    moving = bench.run(1.0, Velocity(0.4, 0.0, 0.3))
    assert (moving.vx, moving.vy, moving.wz) == pytest.approx((0.4, 0.0, 0.3))
    if how == "emergency stop":
        bench.held.emergency_stop(True)
        bench.beat()
    # Without a word it takes the driver's own timeout and a beat; whoever says stop is heard at once.
    wait_s, command = (0.305, None) if how == "silence" else (0.01, STOP if how == "zero" else Velocity(0.4))
    assert bench.run(wait_s, command) == STOP
    assert bench.run(1.0, None if how == "silence" else command) == STOP


@pytest.mark.parametrize("name", list(RATES_HZ))
def test_what_was_commanded_before_the_release_does_not_count(name: str) -> None:
    bench = Bench(name)
    bench.run(0.5, Velocity(0.4))
    bench.held.emergency_stop(True)
    bench.run(0.1, Velocity(0.4))
    bench.held.emergency_stop(False)
    assert bench.run(0.3, None) == STOP
    assert bench.run(0.1, Velocity(0.4)).vx == pytest.approx(0.4)


def test_the_traps_are_real() -> None:
    """What a driver that only passes velocities on would run into."""
    go2 = firmware.Go2Firmware()
    go2.request(1008, '{"x": 0.4, "y": 0, "z": 0}', 0.0)
    go2.request(1008, '{"x": 0, "y": 0, "z": 0}', 0.1)
    assert go2.velocity(0.9).vx == 0.4 and go2.velocity(1.01) == STOP and go2.dropped == 1
    go1 = firmware.Go1Firmware()
    go1.frame(wire.encode(wire.HighCommand(wire.Mode.WALK, wire.Gait.TROT, Velocity(0.4))), 0.001)
    assert go1.velocity(5.0).vx == pytest.approx(0.4), "its watchdog looked when the command was 399 and 404 ms old"
    go1.frame(wire.encode(wire.HighCommand(wire.Mode.WALK, wire.Gait.TROT, Velocity(0.4))), 4.999)
    assert go1.velocity(6.0) == STOP, "it looked just in time"
    tracer = firmware.TracerFirmware()
    tracer.twist(Velocity(0.4, 0.2, 0.0), 0.0)
    assert tracer.velocity(0.5) == Velocity(0.4, 0.0, 0.0) and tracer.velocity(0.51) == STOP


def test_a_base_that_is_told_steadily_does_not_halt() -> None:
    bench = Bench("cobot_magic")
    for _ in range(20):
        assert bench.run(0.2, Velocity(0.4, 0.3, 0.0)) == Velocity(0.4, 0.0, 0.0)
    assert bench.robot.ignored_sideways == 0


def test_go2_requests() -> None:
    request = move_request(Velocity(0.25, -0.1, 0.5))
    assert request.call == 1008 and json.loads(request.parameter) == {"x": 0.25, "y": -0.1, "z": 0.5}
    with pytest.raises(ValueError, match="StopMove"):
        move_request(STOP)
    link = SportLink()
    said = [link.step(0.0) for _ in range(STOPS + 3)]
    assert [r.call for row in said for r in row] == [SportCall.STOP_MOVE] * STOPS, "rest is not repeated for ever"
    link.held.emergency_stop(True)
    assert all(link.step(0.0)[0].call is SportCall.STOP_MOVE for _ in range(3 * STOPS)), "an emergency stop is"
    assert [r.call for r in link.stand(False)] == [1003, 1005] and [r.call for r in link.stand(True)] == [1004, 1002]


def test_go1_checksum_is_crc32_mpeg2_of_the_words() -> None:
    def bitwise(data: bytes) -> int:
        register = 0xFFFFFFFF
        for byte in data:
            register ^= byte << 24
            for _ in range(8):
                register = (register << 1 ^ (0x04C11DB7 if register & 0x80000000 else 0)) & 0xFFFFFFFF
        return register

    # Check value of the CRC catalogue for "123456789".
    assert bitwise(b"123456789") == 0x0376E6E7
    words = b"12345678"
    assert wire.checksum(words) == bitwise(words[3::-1] + words[:3:-1])
    with pytest.raises(ValueError, match="whole words"):
        wire.checksum(b"123")


@given(vx=st.floats(-1.0, 1.5, width=32), vy=st.floats(-1.0, 1.0, width=32), wz=st.floats(-4.0, 4.0, width=32))
def test_go1_frames_are_read_as_they_were_meant(vx: float, vy: float, wz: float) -> None:
    frame = wire.encode(wire.HighCommand(wire.Mode.WALK, wire.Gait.TROT, Velocity(vx, vy, wz)))
    assert len(frame) == 129 and frame[22:24] == b"\x02\x01"
    robot = firmware.Go1Firmware()
    robot.frame(frame, 0.0)
    assert (robot.dropped, robot.velocity(0.0)) == (0, Velocity(vx, vy, wz))
    broken = bytearray(frame)
    broken[60] ^= 1
    robot.frame(bytes(broken), 0.1)
    assert robot.dropped == 1


@given(yaw=st.floats(-3.1, 3.1), x=st.floats(-50.0, 50.0), y=st.floats(-50.0, 50.0))
def test_go1_states_are_read_as_they_were_meant(yaw: float, x: float, y: float) -> None:
    frame = links.state_frame(Odometry(0.0, SE2(x, y, yaw), Velocity(0.1, 0.2, -0.3)), 2)
    state = wire.decode_state(frame)
    assert state.mode == 2 and state.acceleration[2] == pytest.approx(9.81)
    assert (state.pose.x, state.pose.y, state.pose.yaw) == pytest.approx((x, y, yaw), abs=1e-4)
    assert (state.velocity.vx, state.velocity.vy, state.velocity.wz) == pytest.approx((0.1, 0.2, -0.3))
    with pytest.raises(ValueError, match="1087"):
        wire.decode_state(frame[:-1])


def test_offsets_are_those_of_the_packed_structs() -> None:
    imu, motor, battery = "4f3f3f3fb", "Bfffffffb2I", "4BiH2b2b10H"
    header = "2B2B8B8BH"
    assert struct.calcsize("<" + header) == 22
    assert struct.calcsize("<" + header + "3B2f2f3f") == 53, "velocity in HighCmd"
    assert struct.calcsize("<" + header + "3B2f2f3f2ff" + "4B12B40BI") == 125, "checksum in HighCmd"
    before = "<" + header + imu + motor * 20 + battery + "4h4h"
    assert struct.calcsize(before) == 885, "mode in HighState"
    assert struct.calcsize(before + "BfBf") == 895 and struct.calcsize(before + "BfBf3ff") == 911
    assert struct.calcsize(before + "BfBf3ff3ff4f12f12f40BII") == wire.STATE_BYTES


def test_a_vendor_without_a_twist_gets_one_from_its_poses() -> None:
    odometry = VendorOdometry()
    assert odometry.add(1.0, SE2(0.0, 0.0, 0.0), STOP) == Odometry(1.0, SE2(0.0, 0.0, 0.0), STOP)
    # A quarter circle of radius 1 m in 0.25 s: chord sqrt(2) m straight ahead of the middle heading.
    moved = odometry.add(1.25, SE2(1.0, 1.0, math.pi / 2), STOP)
    assert moved is not None
    assert moved.velocity.vx == pytest.approx(math.sqrt(2.0) / 0.25) and moved.velocity.vy == pytest.approx(0.0)
    assert moved.velocity.wz == pytest.approx(2.0 * math.pi)
    told = odometry.add(1.5, SE2(1.0, 1.5, math.pi / 2), Velocity(2.0, 0.0, 0.0))
    assert told is not None and told.velocity.vx == 2.0, "a twist that is there counts"
    assert odometry.add(1.5, SE2(9.0, 9.0, 0.0), STOP) is None, "the same stamp again"
    jumped = odometry.add(0.2, SE2(0.0, 0.0, 0.0), STOP)
    assert jumped is not None and jumped.velocity == STOP, "a clock that went back begins anew"


def test_drift_is_measured_at_rest_alone() -> None:
    monitor = DriftMonitor()

    def run(begin_s: float, seconds: float, resting: bool, rate_rad: float) -> None:
        for k in range(round(seconds * 10)):
            monitor.add(begin_s + 0.1 * k, resting, SE2(0.001 * k, 0.0, rate_rad * 0.1 * k))

    run(0.0, 30.0, False, 0.5)
    run(30.0, 10.9, True, 0.005)
    assert monitor.newest is None, "no whole window yet"
    run(50.0, 1.0, False, 0.0)
    run(60.0, 11.2, True, 0.005)
    assert monitor.newest is not None
    # 10 s at 0.005 rad/s and 0.01 m/s.
    assert (monitor.newest.yaw_rad, monitor.newest.distance_m) == pytest.approx((0.05, 0.1), rel=0.02)
    assert monitor.newest.is_large
    run(80.0, 1.0, False, 0.0)
    for k in range(200):
        monitor.add(90.0 + 0.1 * k, True, SE2(0.0, 0.0, 0.0))
    assert not monitor.newest.is_large


def test_ends_with_rest() -> None:
    assert {request.call for request in SportLink().rest()} == {SportCall.STOP_MOVE}
    assert REST.velocity == STOP and REST.mode is wire.Mode.WALK
