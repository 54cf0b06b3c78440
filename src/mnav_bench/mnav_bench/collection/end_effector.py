"""Where a hand would have to be while a part is worked on: a pose at the handle that moves with the part."""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np

from mnav_core.geometry import SE2, SE3, Array
from mnav_sim_bridge.interaction import Attempt
from mnav_sim_bridge.world import MujocoWorld


@dataclass
class HandleTargets:
    """Targets in `map`, fixed to the body of the joint from the first moment that an attempt works on it.

    At a door's handle where the house says where that is, else at the point that was grasped. x points at the part,
    along whichever axis of its body is nearest to the robot's approach; z is the body's.
    """

    world: MujocoWorld
    robot: str
    _in_body: dict[int, SE3] = field(default_factory=dict)

    def now(self) -> tuple[int, tuple[float, ...] | None]:
        """Number of the attempt that runs, and its target x, y, z, qx, qy, qz, qw; -1 and None while there is none."""
        running = [a for a in self.world.truth().attempts() if a.robot == self.robot and a.end is None and a.joint]
        if not running:
            return -1, None
        attempt = running[-1]
        body = self._body(attempt.joint)
        number = attempt.goal.attempt_id
        if number not in self._in_body:
            self._in_body[number] = self._grasp(attempt, body)
        pose = body @ self._in_body[number]
        return number, (*(float(v) for v in pose.translation), *(float(v) for v in pose.quaternion()))

    def _body(self, joint: str) -> SE3:
        body = int(self.world.model.joint(joint).bodyid[0])
        rotation = np.asarray(self.world.data.xmat[body], float).reshape(3, 3)
        return SE3(rotation, np.asarray(self.world.data.xpos[body], float))

    def _grasp(self, attempt: Attempt, body: SE3) -> SE3:
        door = next((d for d in self.world.house.record.doors if d.joint == attempt.joint), None)
        robot = self.world.truth().robot_pose(self.robot)
        point = body.inverse().apply(np.array(attempt.goal.point)) if door is None else np.array(door.handle)
        rotation = _approach(body, point, robot)
        return SE3(rotation, np.asarray(point, float))


def _approach(body: SE3, point: Array, robot: SE2) -> Array:
    """Rotation in the body whose x is the body's horizontal axis, with its sign, nearest to the way from the robot."""
    way = body.rotation.T @ (body.apply(point) - np.array([robot.x, robot.y, 0.0]))
    axis = int(np.argmax(np.abs(way[:2])))
    x = np.zeros(3)
    x[axis] = 1.0 if way[axis] >= 0.0 else -1.0
    z = np.array([0.0, 0.0, 1.0])
    return np.column_stack([x, np.cross(z, x), z])
