"""Lifecycle nodes that bring themselves up, so that whoever starts a process has nothing more to do."""

from __future__ import annotations

from typing import Any

from rclpy.lifecycle import LifecycleNode, State, TransitionCallbackReturn

from mnav_core.errors import UsageError


class SelfStartingNode(LifecycleNode):
    """A lifecycle node with its parameters' overrides declared; `bring_up` configures and activates it.

    Keyword arguments are those of an rclpy node.
    """

    def __init__(self, name: str, **kwargs: Any) -> None:
        super().__init__(name, automatically_declare_parameters_from_overrides=True, **kwargs)
        self._refusal: UsageError | None = None

    def configure(self) -> None:
        """Read parameters and make the core, publishers and subscriptions. Raises UsageError for a bad parameter."""
        raise NotImplementedError

    def activate(self) -> None:
        """Begin to work."""

    def deactivate(self) -> None:
        """Stop working."""

    def on_configure(self, state: State) -> TransitionCallbackReturn:
        """Lifecycle callback."""
        try:
            self.configure()
        except UsageError as error:
            self._refusal = error
            self.get_logger().error(str(error))
            return TransitionCallbackReturn.FAILURE
        return TransitionCallbackReturn.SUCCESS

    def on_activate(self, state: State) -> TransitionCallbackReturn:
        """Lifecycle callback."""
        self.activate()
        return super().on_activate(state)

    def on_deactivate(self, state: State) -> TransitionCallbackReturn:
        """Lifecycle callback."""
        self.deactivate()
        return super().on_deactivate(state)

    def bring_up(self, autostart: bool) -> None:
        """Configure and activate. Raises UsageError when a parameter was refused."""
        if not autostart:
            return
        self.trigger_configure()
        if self._refusal is not None:
            raise self._refusal
        self.trigger_activate()

    def now_s(self) -> float:
        """The node's clock in seconds."""
        return float(self.get_clock().now().nanoseconds / 1e9)
