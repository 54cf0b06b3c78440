"""Plain Python core of mnav: no rclpy, deterministic, time passed in."""
