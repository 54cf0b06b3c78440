"""The interfaces of compat/ are upstream's, so that nodes of other installations understand ours."""

from __future__ import annotations

from typing import Any

import pytest

pytest.importorskip("rclpy", reason="needs the built workspace")

from map_msgs.msg import OccupancyGridUpdate
from nav2_msgs.action import ComputePathToPose, NavigateToPose
from tf2_msgs.msg import TFMessage
from unitree_api.msg import Request, RequestHeader, RequestIdentity, RequestLease, RequestPolicy

# Type hashes (REP-2016) as announced on the wire.
TF_MESSAGE_HASH = "RIHS01_e369d0f05a23ae52508854b66f6aa0437f3449d652e8cbf22d5abe85d020f087"


@pytest.mark.ros
def test_tf_message_has_the_upstream_type_hash() -> None:
    import rclpy
    from rclpy.context import Context

    context = Context()
    rclpy.init(args=[], context=context)
    node = rclpy.create_node("type_hash", context=context)
    try:
        node.create_publisher(TFMessage, "tf", 1)
        (endpoint,) = node.get_publishers_info_by_topic("tf")
        assert str(endpoint.topic_type_hash) == TF_MESSAGE_HASH
    finally:
        node.destroy_node()
        context.try_shutdown()


@pytest.mark.parametrize(
    ("interface", "fields"),
    [
        (TFMessage, {"transforms": "sequence<geometry_msgs/TransformStamped>"}),
        (
            OccupancyGridUpdate,
            {
                "header": "std_msgs/Header",
                "x": "int32",
                "y": "int32",
                "width": "uint32",
                "height": "uint32",
                "data": "sequence<int8>",
            },
        ),
        (NavigateToPose.Goal, {"pose": "geometry_msgs/PoseStamped", "behavior_tree": "string"}),
        (NavigateToPose.Result, {"error_code": "uint16", "error_msg": "string"}),
        (
            NavigateToPose.Feedback,
            {
                "current_pose": "geometry_msgs/PoseStamped",
                "navigation_time": "builtin_interfaces/Duration",
                "estimated_time_remaining": "builtin_interfaces/Duration",
                "number_of_recoveries": "int16",
                "distance_remaining": "float",
            },
        ),
        (
            ComputePathToPose.Goal,
            {
                "goal": "geometry_msgs/PoseStamped",
                "start": "geometry_msgs/PoseStamped",
                "planner_id": "string",
                "use_start": "boolean",
            },
        ),
        (
            ComputePathToPose.Result,
            {
                "path": "nav_msgs/Path",
                "planning_time": "builtin_interfaces/Duration",
                "error_code": "uint16",
                "error_msg": "string",
            },
        ),
        (ComputePathToPose.Feedback, {}),
        (Request, {"header": "unitree_api/RequestHeader", "parameter": "string", "binary": "sequence<uint8>"}),
        (
            RequestHeader,
            {
                "identity": "unitree_api/RequestIdentity",
                "lease": "unitree_api/RequestLease",
                "policy": "unitree_api/RequestPolicy",
            },
        ),
        (RequestIdentity, {"id": "int64", "api_id": "int64"}),
        (RequestLease, {"id": "int64"}),
        (RequestPolicy, {"priority": "int32", "noreply": "boolean"}),
    ],
)
def test_fields_are_those_of_the_upstream_definitions(interface: Any, fields: dict[str, str]) -> None:
    present = interface.get_fields_and_field_types()
    # The generator adds one to an empty message.
    present.pop("structure_needs_at_least_one_member", None)
    assert list(present.items()) == list(fields.items())


def test_error_codes_are_those_of_nav2() -> None:
    result = ComputePathToPose.Result
    names = ("NONE", "UNKNOWN", "INVALID_PLANNER", "TF_ERROR", "START_OUTSIDE_MAP", "GOAL_OUTSIDE_MAP")
    more = ("START_OCCUPIED", "GOAL_OCCUPIED", "TIMEOUT", "NO_VALID_PATH")
    assert [getattr(result, name) for name in names + more] == [0, 200, 201, 202, 203, 204, 205, 206, 207, 208]
