"""Node `simulation`: an episode's building as topics, the task handed to the robot, the verdict to a file.

The evaluation runs in the simulator's process: what is true never crosses DDS.
"""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Any, ClassVar

from nav_msgs.msg import OccupancyGrid
from pydantic import Field
from rclpy.action import ActionClient

from mnav_bench.assembly import build_world, world_seed
from mnav_bench.episodes import EpisodeFile, NavToObjEpisode, read_episodes
from mnav_bench.navtoobj import demo_episode
from mnav_bench.recording import EpisodeRecorder, make_folder
from mnav_bench.referee import Referee, write_verdict
from mnav_core.errors import UsageError
from mnav_core.messages.maps import grid_of
from mnav_core.messages.task import task_result_of, to_task_goal
from mnav_core.nodes import qos
from mnav_core.nodes.server_watch import ServerWatch, action_topic
from mnav_core.requests import TaskGoal, TaskOutcome, TaskResult
from mnav_core.robot import find_robot
from mnav_core.seams import World
from mnav_core.sensing import SensorFrame
from mnav_interfaces.action import NavigateTask
from mnav_sim_bridge.bridge_node import BridgeNode, BridgeSettings
from mnav_sim_bridge.imperfections import imperfect, profile_of

PEERS_PERIOD_S = 0.1
MIND_PERIOD_S = 0.5


class DirectorSettings(BridgeSettings):
    """Parameters: which episode of which file ("": one in a house made from `house_seed`), which agent carries it out,
    where the verdict goes ("": it is only said), a folder to record in ("": nothing is recorded), and how imperfect
    sensors and wheels are.
    """

    episodes: str = ""
    index: Annotated[int, Field(ge=0)] = 0
    house_seed: Annotated[int, Field(ge=0)] = 1
    agent: str = "frontier"
    verdict: str = ""
    record: str = ""
    profile: str = "clean"


def pick_episode(file: str, index: int) -> tuple[EpisodeFile, NavToObjEpisode]:
    """One episode of a file. Raises UsageError for a bad file or an index outside of it."""
    suite = read_episodes(Path(file))
    if index >= len(suite.episodes):
        raise UsageError(f"episode file {file}: index = {index}, allowed: 0 to {len(suite.episodes) - 1}")
    return suite, suite.episodes[index]


class DirectorNode(BridgeNode):
    """Holds time until the robot's nodes are there and the task is accepted; ends it once the robot rests."""

    settings_model: ClassVar[type[BridgeSettings]] = DirectorSettings
    settings: DirectorSettings

    def configure(self) -> None:
        """Read the episode."""
        super().configure()
        settings = self.settings
        if settings.episodes:
            suite, self._episode = pick_episode(settings.episodes, settings.index)
        else:
            suite = demo_episode(settings.house_seed, find_robot(settings.robots[0]), None)
            self._episode = suite.episodes[0]
            self.get_logger().info(f"task: find the {self._episode.category}")
        if settings.robots != [self._episode.robot]:
            raise UsageError(
                f"node {self.get_name()}: parameter robots = {settings.robots}, allowed: {[self._episode.robot]}"
            )
        profile_of(settings.profile)
        self._referee = Referee(suite, self._episode, settings.agent)
        prefix = f"{settings.namespaces[0]}/" if settings.namespaces[0] else ""
        self._tasks = ActionClient(self, NavigateTask, f"{prefix}navigate_task")
        self._is_sent = False
        self._is_accepted = False
        self._claim: TaskResult | None = None
        self._recorder: EpisodeRecorder | None = None
        if settings.record:
            make_folder(Path(settings.record))
            for topic, take in (("map", self._on_map), ("coverage", self._on_coverage)):
                self.create_subscription(OccupancyGrid, f"{prefix}{topic}", take, qos.latched_qos())

    def activate(self) -> None:
        """Build the world, and look for the robot's nodes meanwhile."""
        super().activate()
        self._peers_timer = self.create_timer(PEERS_PERIOD_S, self._look_for_peers, clock=self.wall_clock())

    def make_world(self) -> World:
        """The world of the episode."""
        world = build_world(self._episode)
        if self.settings.record:
            recorder = EpisodeRecorder(
                world,
                self._episode.robot,
                self._episode.category,
                Path(self.settings.record),
                self.get_logger().error,
            )
            recorder.open()
            self._recorder = recorder
        return imperfect(world, self.settings.profile, world_seed(self._episode))

    def may_start(self) -> bool:
        """Once the task is accepted."""
        return self._is_accepted

    def on_sensed(self, robot: str, frame: SensorFrame) -> None:
        """Let the referee see what the robot's detector saw."""
        self._referee.sensed(frame)
        if self._recorder is not None:
            self._recorder.sensed(frame)

    def on_step(self, world: World) -> bool:
        """Measure; at the end judge."""
        referee = self._referee
        referee.measure(world)
        if self._claim is not None:
            referee.end(self._claim, world.time_s)
        if not referee.is_over(world):
            if self._recorder is not None:
                self._recorder.step()
            return True
        self._judge(world)
        return False

    def on_lost(self, world: World, reason: str) -> None:
        """A stage fell silent: the episode is lost."""
        self._referee.end(TaskResult(TaskOutcome.LOST, reason), world.time_s)
        self._judge(world)

    def _judge(self, world: World) -> None:
        row = self._referee.verdict(world)
        if self._recorder is not None:
            # Before the verdict is there: whoever waits for it may end this process.
            self._recorder.finish(bool(row["success"]), str(row["reason"]))
        if self.settings.verdict:
            write_verdict(Path(self.settings.verdict), row)
        self.get_logger().info(f"verdict: success {row['success']}, outcome {row['outcome']}, SPL {row['spl']:.3f}")

    def _simulate(self, world: World) -> None:
        try:
            super()._simulate(world)
        finally:
            if self._recorder is not None:
                self._recorder.close()

    def _on_map(self, message: OccupancyGrid) -> None:
        if self._recorder is not None:
            self._recorder.occupancy = grid_of(message)

    def _on_coverage(self, message: OccupancyGrid) -> None:
        if self._recorder is not None:
            self._recorder.inspected = grid_of(message)

    def _look_for_peers(self) -> None:
        """Send the task once its server is there and everything that moves the robot is connected."""
        if self._is_sent or self.simulation is None or not self._tasks.server_is_ready():
            return
        if not self.simulation.is_connected():
            return
        self._is_sent = True
        self.destroy_timer(self._peers_timer)
        episode = self._episode
        goal = to_task_goal(TaskGoal("goal", episode.category))
        request = NavigateTask.Goal(
            goals=[goal], ordered=True, budget_s=self._referee.suite.budget_s, agent=self.settings.agent
        )
        future = self._tasks.send_goal_async(request, feedback_callback=self._on_feedback)
        self.mailbox.when_done(future, self._on_accepted)

    def _on_accepted(self, future: Any) -> None:
        handle = future.result()
        if not handle.accepted:
            raise RuntimeError("the task server rejected the task")
        self.mailbox.when_done(handle.get_result_async(), self._on_result)
        self._is_accepted = True
        if not self.settings.lockstep:
            prefix = f"{self.settings.namespaces[0]}/" if self.settings.namespaces[0] else ""
            self._mind_watch = ServerWatch(self, action_topic(f"{prefix}navigate_task"))
            self.create_timer(MIND_PERIOD_S, self._look_after_mind, clock=self.wall_clock())

    def _look_after_mind(self) -> None:
        """A task whose server is gone has no result to wait for."""
        if self._mind_watch.has_changed() and self._claim is None:
            self._claim = TaskResult(TaskOutcome.LOST, "the task server was lost")

    def _on_feedback(self, message: Any) -> None:
        stamp = message.feedback.stamp
        if self._recorder is not None:
            self._recorder.decision = str(message.feedback.decision)
        self._referee.log.append(f"{stamp.sec + stamp.nanosec / 1e9:.1f} {message.feedback.decision}")

    def _on_result(self, future: Any) -> None:
        self._claim = task_result_of(future.result().result)


def make_node(**kwargs: Any) -> DirectorNode:
    """The node, brought up."""
    node = DirectorNode("simulation", **kwargs)
    node.bring_up()
    return node


def main() -> int:
    """Run the node alone."""
    from mnav_core.nodes.entry import run_node

    return run_node(make_node)
