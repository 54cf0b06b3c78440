"""Lifecycle nodes that bring themselves up, so that whoever starts a process has nothing more to do."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from rclpy.lifecycle import LifecycleNode, State, TransitionCallbackReturn

from mnav_core.errors import UsageError


def steady_clock() -> Any:
    """A clock for timers that go on while simulated time stands still."""
    from rclpy.clock import Clock, ClockType

    return Clock(clock_type=ClockType.STEADY_TIME)


class SelfStartingNode(LifecycleNode):
    """A lifecycle node with its parameters' overrides declared; `bring_up` configures and activates it.

    Keyword arguments are those of an rclpy node.
    """

    def __init__(self, name: str, **kwargs: Any) -> None:
        super().__init__(name, automatically_declare_parameters_from_overrides=True, **kwargs)
        self._failure: Exception | None = None

    def configure(self) -> None:
        """Read parameters and make the core, publishers and subscriptions. Raises UsageError for a bad parameter."""
        raise NotImplementedError

    def activate(self) -> None:
        """Begin to work."""

    def deactivate(self) -> None:
        """Stop working."""

    def on_configure(self, state: State) -> TransitionCallbackReturn:
        """Lifecycle callback."""
        return self._attempt(self.configure, TransitionCallbackReturn.FAILURE)

    def on_activate(self, state: State) -> TransitionCallbackReturn:
        """Lifecycle callback."""
        done = self._attempt(self.activate, TransitionCallbackReturn.ERROR)
        return super().on_activate(state) if done is TransitionCallbackReturn.SUCCESS else done

    def on_deactivate(self, state: State) -> TransitionCallbackReturn:
        """Lifecycle callback."""
        self.deactivate()
        return super().on_deactivate(state)

    def bring_up(self) -> None:
        """Configure and activate unless `autostart` is false. Raises what either of them raised."""
        if self.has_parameter("autostart") and not self.get_parameter("autostart").value:
            return
        for transition in (self.trigger_configure, self.trigger_activate):
            transition()
            if self._failure is not None:
                raise self._failure

    def now_s(self) -> float:
        """The node's clock in seconds."""
        return float(self.get_clock().now().nanoseconds / 1e9)

    def _attempt(
        self, step: Callable[[], None], refused: TransitionCallbackReturn
    ) -> TransitionCallbackReturn:
        self._failure = None
        try:
            step()
        except UsageError as error:
            self._failure = error
            self.get_logger().error(str(error))
            return refused
        except Exception as error:  # noqa: BLE001 (rclpy would swallow it; `bring_up` raises it again)
            self._failure = error
            self.get_logger().error(f"{type(error).__name__}: {error}")
            return TransitionCallbackReturn.ERROR
        return TransitionCallbackReturn.SUCCESS
