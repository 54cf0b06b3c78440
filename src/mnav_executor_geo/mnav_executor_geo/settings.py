"""Settings of the geometric executor; every value has a range and a unit."""

from __future__ import annotations

from typing import Annotated

from pydantic import BaseModel, ConfigDict, Field

Positive = Annotated[float, Field(gt=0.0, allow_inf_nan=False)]
NonNegative = Annotated[float, Field(ge=0.0, allow_inf_nan=False)]
Fraction = Annotated[float, Field(gt=0.0, le=1.0)]


class _Settings(BaseModel):
    model_config = ConfigDict(frozen=True, extra="forbid")


class AnchorSettings(_Settings):
    """Depth around a visual point (SuperNav, geometric executor)."""

    window_fraction: Fraction = 0.02
    cross_fraction: Fraction = 0.05
    cluster_m: Positive = 0.25
    cluster_fraction: Fraction = 0.2
    support_fraction: Fraction = 0.08
    min_depth_m: Positive = 0.05
    floor_height_m: Positive = 0.12


class ApproachSettings(_Settings):
    """Where to stand for a visual point (SuperNav appendix A.1: standoff 0.7 m, snap distance 0.75 m)."""

    standoff_m: Positive = 0.7
    inspect_standoff_m: Positive = 1.2
    max_excess_m: Positive = 0.9
    ring_step_m: Positive = 0.1
    angles: Annotated[int, Field(ge=8, le=360)] = 48
    snap_m: Positive = 0.75
    distance_weight: NonNegative = 2.0
    path_weight: NonNegative = 0.15
    alignment_weight: NonNegative = 0.5
    occlusion_weight: NonNegative = 3.0
    clearance_weight: NonNegative = 0.7


class PlannerSettings(_Settings):
    """Search on the graded costmap."""

    cost_weight: Annotated[float, Field(ge=0.0, le=10.0)] = 6.0
    snap_m: NonNegative = 0.3
    escape_m: NonNegative = 0.6
    replan_period_s: Positive = 2.0
    keep_ratio: Annotated[float, Field(gt=0.0, le=1.0)] = 0.85
    shortcut_m: Positive = 3.0


class FollowerSettings(_Settings):
    """Lookahead follower with proportional heading control."""

    lookahead_m: Positive = 0.4
    lookahead_s: NonNegative = 0.4
    heading_gain: Positive = 2.0
    rotate_enter_rad: Positive = 0.6
    rotate_leave_rad: Positive = 0.25
    approach_gain: Positive = 1.5
    min_speed: Positive = 0.06
    min_turn: Positive = 0.1
    obstacle_slowdown: Annotated[float, Field(ge=0.0, lt=1.0)] = 0.5
    horizon_s: Positive = 0.8
    padding_m: NonNegative = 0.015
    yaw_tolerance: Positive = 0.08


class ProgressSettings(_Settings):
    """When a motion is stuck, and what is tried."""

    window_s: Positive = 4.0
    min_progress_m: Positive = 0.08
    min_progress_rad: Positive = 0.15
    blocked_s: Positive = 0.6
    wait_s: Positive = 1.5
    back_up_m: Positive = 0.3
    back_up_s: Positive = 3.0
    back_up_speed: Positive = 0.15
    rounds: Annotated[int, Field(ge=0, le=20)] = 6
    no_path_s: Positive = 3.0


class ManeuverSettings(_Settings):
    """Search over place and heading where the footprint's shape decides."""

    window_m: Positive = 2.5
    back_factor: Annotated[float, Field(ge=1.0)] = 2.0
    turn_cost_m: Positive = 0.12
    padding_m: NonNegative = 0.015
    wished_padding_m: NonNegative = 0.05
    goal_m: Positive = 2.0
    ahead_min_m: Positive = 0.8
    ahead_max_m: Positive = 2.2
    narrow_m: Positive = 1.0


class ExecutorSettings(_Settings):
    """Everything that can be set on the geometric executor."""

    anchor: AnchorSettings = AnchorSettings()
    approach: ApproachSettings = ApproachSettings()
    planner: PlannerSettings = PlannerSettings()
    follower: FollowerSettings = FollowerSettings()
    progress: ProgressSettings = ProgressSettings()
    maneuver: ManeuverSettings = ManeuverSettings()
    odometry_age_s: Positive = 0.3
    map_age_s: Positive = 2.0
    stale_s: Positive = 2.0
    turn_tolerance: Positive = 0.03
    look_tolerance: Positive = 0.03
    time_limit_base_s: Positive = 20.0
    time_limit_factor: Annotated[float, Field(ge=1.0)] = 5.0
    time_limit_max_s: Positive = 400.0
