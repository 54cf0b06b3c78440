"""Tools whose points a model writes in its own coordinates, and those points in the tools' own."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Annotated, Any

from pydantic import Field, create_model

from mnav_core.chat import ToolArguments, ToolSchema
from mnav_models.coordinates import AxisOrder, CoordinateFrame, OutOfImage


@dataclass(frozen=True)
class Pointing:
    """How a model points in images of `width` x `height` pixels."""

    frame: CoordinateFrame
    width: int
    height: int

    def schema(self, tool: ToolSchema) -> ToolSchema:
        """The tool with its `point` in the model's coordinates; a tool without a point as it is."""
        if "point" not in tool.arguments.model_fields:
            return tool
        wide, high = self.frame.extent(self.width, self.height)
        first, second = (wide, high) if self.frame.order is AxisOrder.XY else (high, wide)
        point: Any = tuple[
            Annotated[float, Field(ge=0.0, le=float(first))], Annotated[float, Field(ge=0.0, le=float(second))]
        ]
        described = self.frame.describe(self.width, self.height)
        fields: dict[str, Any] = {"point": (point, Field(description=described))}
        arguments: type[ToolArguments] = create_model(tool.arguments.__name__, __base__=tool.arguments, **fields)
        return ToolSchema(tool.name, tool.description, arguments)

    def to_tool(self, arguments: Mapping[str, Any]) -> dict[str, Any]:
        """The arguments with the point from 0 to 1; a point outside the image is left for the tool to refuse."""
        given = dict(arguments)
        point = given.get("point")
        if not isinstance(point, list | tuple) or len(point) != 2:
            return given
        try:
            given["point"] = list(self.frame.to_unit((float(point[0]), float(point[1])), self.width, self.height))
        except OutOfImage:
            given["point"] = [2.0, 2.0]
        return given
