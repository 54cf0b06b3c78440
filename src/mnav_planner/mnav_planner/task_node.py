"""Node `task_server`: action `navigate_task`, carried out by a mind on a `RosBody`."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Annotated, Any

from pydantic import BaseModel, ConfigDict, Field

from mnav_core.errors import UsageError
from mnav_core.geometry import SE2
from mnav_core.messages.stamps import to_time
from mnav_core.messages.task import task_goals_of, to_task_result
from mnav_core.nodes.deferred_actions import DeferredActionServer, GoalEnd
from mnav_core.nodes.mailbox import Mailbox
from mnav_core.nodes.self_starting import SelfStartingNode, steady_clock
from mnav_core.nodes.server_watch import ServerWatch, action_topic
from mnav_core.parameters import declare_parameters
from mnav_core.requests import TaskOutcome, TaskResult
from mnav_core.robot import find_robot
from mnav_interfaces.action import NavigateTask
from mnav_planner.agents.registry import make_mind
from mnav_planner.budget import Budget, Spent, exceeded
from mnav_planner.mind_inputs import MindInputs
from mnav_planner.mind_lockstep import MindLockstep
from mnav_planner.motion_clients import MotionClients
from mnav_planner.ros_body import RosBody
from mnav_planner.stepper import MindStepper

# How long, in robot time, a result waits for the robot to rest.
REST_TIMEOUT_S = 2.0
# How often, in wall time, the servers are looked after.
WATCH_PERIOD_S = 0.5


class TaskNodeSettings(BaseModel):
    """Parameters of the node. `seed` drives what an agent draws by chance."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    autostart: bool = True
    lockstep: bool = False
    robot: str = "cobot_magic"
    agent: str = "frontier"
    seed: Annotated[int, Field(ge=0)] = 0
    poll_rate_hz: Annotated[float, Field(gt=0.0, le=100.0)] = 20.0


# These agents choose without a model.
NO_MODEL = ("", "builtin")


@dataclass(eq=False)
class _Task:
    """The task that runs."""

    handle: Any
    stepper: MindStepper
    budget: Budget
    started_s: float | None = None
    ended_s: float | None = None
    actions_before: int = 0
    turns_before: int = 0
    last_pose: SE2 | None = None
    path_m: float = 0.0


class TaskNode(SelfStartingNode):
    """One task at a time; a second one is answered BLOCKED at once. A cancelled task ends once the robot rests."""

    settings: TaskNodeSettings

    def configure(self) -> None:
        """Make the body."""
        self.settings = declare_parameters(self, TaskNodeSettings)
        self._robot = find_robot(self.settings.robot)
        mailbox = Mailbox(self)
        clients = MotionClients(self, self.get_name())
        self._body = RosBody(self, self._robot, clients, mailbox, self._on_change)
        self._body.open()
        self._task: _Task | None = None
        self._lockstep = MindLockstep(self, self._body, self._poll) if self.settings.lockstep else None
        self._inputs = MindInputs(
            self,
            self._body,
            self.settings.lockstep,
            self._on_change,
            self._lockstep.begin if self._lockstep is not None else lambda _tick: None,
        )

    def activate(self) -> None:
        """Serve tasks."""
        self._inputs.open()
        if self._lockstep is not None:
            self._lockstep.open()
        else:
            self.create_timer(1.0 / self.settings.poll_rate_hz, self._poll)
            self._executor_watch = ServerWatch(self, action_topic("navigate_to_pose"))
            self._mapper_watch = ServerWatch(self, "costmap")
            self.create_timer(WATCH_PERIOD_S, self._look_after_servers, clock=steady_clock())
        self._server = DeferredActionServer(self, NavigateTask, "navigate_task", self._on_goal, self._on_cancel)

    def _on_change(self) -> None:
        if self._lockstep is not None:
            self._lockstep.advance()
        else:
            self._poll()

    def _look_after_servers(self) -> None:
        if self._executor_watch.has_changed():
            self.get_logger().warning("the executor was lost: its motions are given up")
            self._body.lose_executor()
        if self._mapper_watch.has_changed():
            self.get_logger().warning("the mapper was lost: its captures are given up")
            self._body.lose_mapper()

    def _on_goal(self, handle: Any) -> None:
        goal = handle.request
        if self._task is not None:
            self._conclude(handle, TaskResult(TaskOutcome.BLOCKED, "another task is running"))
            return
        agent = goal.agent or self.settings.agent
        try:
            if goal.model not in NO_MODEL:
                raise UsageError(f"model {goal.model!r}, allowed for agent {agent!r}: builtin")
            mind = make_mind(agent, task_goals_of(goal.goals), self._robot, self.settings.seed)
        except (ValueError, UsageError) as error:
            self._conclude(handle, TaskResult(TaskOutcome.BLOCKED, str(error)))
            return
        self._body.drain_detections()
        self._task = _Task(
            handle,
            MindStepper(mind, self._body, self._note),
            Budget(goal.budget_s, goal.budget_path_m, goal.budget_actions, goal.budget_turns),
            actions_before=self._body.operations,
        )
        self._say(f"task: {', '.join(g.text for g in goal.goals)}, agent {agent}")

    def _on_cancel(self, handle: Any) -> None:
        task = self._task
        if task is not None and task.handle == handle:
            task.stepper.end(TaskOutcome.CANCELLED, "cancelled by its client")

    def _poll(self) -> None:
        """Let the mind go on, once the robot has told where it is and can be moved."""
        task, state = self._task, self._body.state
        if task is None or state.maps is None or not self._body.is_ready:
            return
        if task.started_s is None:
            task.started_s = state.stamp_s
        if task.last_pose is not None:
            task.path_m += task.last_pose.distance_to(state.pose.x, state.pose.y)
        task.last_pose = state.pose
        result = task.stepper.poll()
        if result is None:
            spent = Spent(state.stamp_s - task.started_s, task.path_m, self._body.operations - task.actions_before)
            reason = exceeded(spent, task.budget)
            result = None if reason is None else task.stepper.end(TaskOutcome.TIMED_OUT, reason)
        if result is not None:
            self._end_when_resting(task, result)

    def _end_when_resting(self, task: _Task, result: TaskResult) -> None:
        state = self._body.state
        if task.ended_s is None:
            task.ended_s = state.stamp_s
            self._say(f"ended: {result.outcome.value}, {result.reason}")
        rests = self._body.is_idle and state.stamp_s > task.ended_s and state.velocity.is_rest
        if rests or state.stamp_s - task.ended_s > REST_TIMEOUT_S:
            self._task = None
            self._conclude(task.handle, result)

    def _conclude(self, handle: Any, result: TaskResult) -> None:
        if result.outcome is TaskOutcome.ACHIEVED:
            end = GoalEnd.SUCCEEDED
        else:
            end = GoalEnd.CANCELED if result.outcome is TaskOutcome.CANCELLED else GoalEnd.ABORTED
        self._server.finish(handle, end, to_task_result(result))

    def _note(self, stamp_s: float, text: str) -> None:
        self._say(text)

    def _say(self, text: str) -> None:
        """One line of the decision log: to the client, and to whoever reads the process's output."""
        stamp_s = self._body.now_s()
        print(f"{stamp_s:7.1f} s  {text}", flush=True)
        if self._task is not None:
            self._task.handle.publish_feedback(NavigateTask.Feedback(stamp=to_time(stamp_s), decision=text))


def make_node(**kwargs: Any) -> TaskNode:
    """The node, brought up."""
    node = TaskNode("task_server", **kwargs)
    node.bring_up()
    return node


def main() -> int:
    """Run the node alone."""
    from mnav_core.nodes.entry import run_node

    return run_node(make_node)
