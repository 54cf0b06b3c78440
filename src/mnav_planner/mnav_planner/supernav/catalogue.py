"""Which tools there are, what they are for, and which of them a configuration shows."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from enum import Enum
from types import MappingProxyType

from mnav_core.chat import ToolArguments, ToolSchema
from mnav_core.robot import RobotDescription
from mnav_planner.supernav import arguments

ALIAS_PREFIX = "hab_"


class ToolName(Enum):
    """The tools by the names that clients know."""

    INIT_SCENE = "init_scene"
    PANORAMA = "panorama"
    TURN = "turn"
    LOOK = "look"
    VISUAL_POINT_NAVIGATE = "visual_point_navigate"
    LOCAL_NAVIGATE = "local_navigate"
    LOCALNAV_STATUS = "localnav_status"
    LOCALNAV_STOP = "localnav_stop"
    NAV_GOALS = "nav_goals"
    CLOSE_SESSION = "close_session"
    VISUAL_GROUND_PREVIEW = "visual_ground_preview"
    NAVIGATE_TO_POSE = "navigate_to_pose"
    DETECTIONS = "detections"
    FRONTIERS = "frontiers"
    GRAPH = "graph"


class Configuration(Enum):
    """The published tool and skill designs (SuperNav, appendix B, Table 3)."""

    FULL = "full"
    FRONT_ONLY = "front_only"
    NO_SKILLS = "no_skills"
    GROUNDING = "grounding"


class Effect(Enum):
    """What a call does: only reads, answers from the session alone, moves the robot, or ends the session."""

    READ = "read"
    SESSION = "session"
    MOTION = "motion"
    CLOSE = "close"


@dataclass(frozen=True)
class Tool:
    """One tool as a caller sees it."""

    name: ToolName
    description: str
    arguments: type[ToolArguments]
    effect: Effect

    def schema(self) -> ToolSchema:
        """The tool as a model is told of it."""
        return ToolSchema(self.name.value, self.description, self.arguments)


_IMAGES = "Returns status, short diagnostics and new images, each with its image_ref."
_TOOLS: tuple[Tool, ...] = (
    Tool(
        ToolName.INIT_SCENE,
        "Open the session and get the first images. Call it once, before any other tool.",
        arguments.InitScene,
        Effect.READ,
    ),
    Tool(
        ToolName.PANORAMA,
        "New images of all directions without moving: front, right, back and left of the robot's heading.",
        arguments.NoArguments,
        Effect.READ,
    ),
    Tool(ToolName.TURN, f"Turn in place by a multiple of 10 degrees. {_IMAGES}", arguments.Turn, Effect.MOTION),
    Tool(
        ToolName.LOOK,
        f"Tilt the head up or down by a multiple of 10 degrees, as far as it goes. {_IMAGES}",
        arguments.Look,
        Effect.MOTION,
    ),
    Tool(
        ToolName.VISUAL_POINT_NAVIGATE,
        f"Drive to what a point of one of the newest images shows: an object, or visible floor. {_IMAGES}",
        arguments.PointNavigate,
        Effect.MOTION,
    ),
    Tool(
        ToolName.LOCAL_NAVIGATE,
        f"One bounded hop to what a point of one of the newest images shows; waits until the hop ends. {_IMAGES}",
        arguments.LocalNavigate,
        Effect.MOTION,
    ),
    Tool(
        ToolName.LOCALNAV_STATUS,
        "How the running hop, or the last one, stands. Answers at once.",
        arguments.NoArguments,
        Effect.SESSION,
    ),
    Tool(
        ToolName.LOCALNAV_STOP,
        "Stop the hop that is running. Its own call then returns.",
        arguments.NoArguments,
        Effect.SESSION,
    ),
    Tool(
        ToolName.NAV_GOALS,
        "The goals and which are found (action status), or mark one as found (action mark, target_index).",
        arguments.NavGoals,
        Effect.SESSION,
    ),
    Tool(
        ToolName.CLOSE_SESSION,
        "End the task: the robot stops, outcome is your own judgement (achieved or blocked).",
        arguments.CloseSession,
        Effect.CLOSE,
    ),
    Tool(
        ToolName.VISUAL_GROUND_PREVIEW,
        "Name something visible in one of the newest images; it is located and, where one place alone fits, driven to."
        " Several places, and doorways, come back numbered on an overlay: call with confirm_token and candidate_id.",
        arguments.GroundPreview,
        Effect.MOTION,
    ),
    Tool(
        ToolName.NAVIGATE_TO_POSE,
        f"Drive to a pose of the map. {_IMAGES}",
        arguments.NavigateToPose,
        Effect.MOTION,
    ),
    Tool(
        ToolName.DETECTIONS,
        "What the detector found in the newest images (category, view, point, distance), and what it found earlier,"
        " each with a view and a point on the way back to it.",
        arguments.Detections,
        Effect.READ,
    ),
    Tool(
        ToolName.FRONTIERS,
        "Where exploring could go on: for each place a view and a point of the newest images on the way to it.",
        arguments.NoArguments,
        Effect.READ,
    ),
    Tool(
        ToolName.GRAPH,
        "Doors and containers known so far: category, state, and view and point where they are in view.",
        arguments.NoArguments,
        Effect.READ,
    ),
)
CATALOGUE: Mapping[ToolName, Tool] = MappingProxyType({tool.name: tool for tool in _TOOLS})

OPTIONAL = frozenset({ToolName.NAVIGATE_TO_POSE, ToolName.DETECTIONS, ToolName.FRONTIERS, ToolName.GRAPH})
DEFAULT_TOOLS = frozenset(CATALOGUE) - OPTIONAL - {ToolName.VISUAL_GROUND_PREVIEW}

_OF_CONFIGURATION: Mapping[Configuration, frozenset[ToolName]] = MappingProxyType(
    {
        Configuration.FULL: DEFAULT_TOOLS,
        Configuration.NO_SKILLS: DEFAULT_TOOLS,
        Configuration.FRONT_ONLY: DEFAULT_TOOLS - {ToolName.PANORAMA},
        Configuration.GROUNDING: (DEFAULT_TOOLS - {ToolName.VISUAL_POINT_NAVIGATE, ToolName.LOCAL_NAVIGATE})
        | {ToolName.VISUAL_GROUND_PREVIEW},
    }
)
_FRONT_ARGUMENTS: Mapping[ToolName, type[ToolArguments]] = MappingProxyType(
    {
        ToolName.VISUAL_POINT_NAVIGATE: arguments.FrontPointNavigate,
        ToolName.LOCAL_NAVIGATE: arguments.FrontLocalNavigate,
    }
)


def canonical_name(name: str) -> ToolName | None:
    """The tool of a name or of its released alias (`hab_` in front, `hab_init`); None where there is none."""
    plain = name.removeprefix(ALIAS_PREFIX)
    if plain == "init":
        return ToolName.INIT_SCENE
    return next((tool for tool in ToolName if tool.value == plain), None)


def tools_for(
    configuration: Configuration,
    allowed: frozenset[ToolName],
    robot: RobotDescription | None,
    graph_served: bool = False,
) -> tuple[Tool, ...]:
    """The tools of a session: what the configuration has and the optional ones, as far as allowed and served."""
    names = (_OF_CONFIGURATION[configuration] | OPTIONAL) & allowed
    if not graph_served:
        names -= {ToolName.GRAPH}
    if robot is not None and not any(camera.tilt is not None for camera in robot.views.values()):
        names -= {ToolName.LOOK}
    return tuple(_shaped(tool, configuration) for tool in _TOOLS if tool.name in names)


def allowed_by_default(configuration: Configuration) -> frozenset[ToolName]:
    """The allow-list of a session that names none: no optional tool."""
    return _OF_CONFIGURATION[configuration]


def _shaped(tool: Tool, configuration: Configuration) -> Tool:
    if configuration is Configuration.NO_SKILLS and tool.name is ToolName.INIT_SCENE:
        return Tool(tool.name, tool.description, arguments.NoArguments, tool.effect)
    if configuration is Configuration.FRONT_ONLY and tool.name in _FRONT_ARGUMENTS:
        description = tool.description.replace("one of the newest images", "the newest front image")
        return Tool(tool.name, description, _FRONT_ARGUMENTS[tool.name], tool.effect)
    return tool
