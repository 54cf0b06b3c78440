"""A scripted model that really looks: it decodes the picture it is sent and answers from its pixels."""

from __future__ import annotations

import base64
import json
import re
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import cv2
import numpy as np
from numpy.typing import NDArray

from mnav_models.testing.behaviours import Exchange, calls, failure, says

HUES = {
    "red": (200, 0, 0),
    "green": (0, 160, 0),
    "blue": (0, 0, 200),
    "magenta": (190, 0, 190),
    "yellow": (200, 200, 0),
}
# Given the place of a thing in the picture (x, y in pixels) and the picture's width and height: the two numbers to
# write.
Writer = Callable[[float, float, int, int], tuple[float, float]]


@dataclass(frozen=True)
class PointingModel:
    """Finds the disc whose colour is asked for and writes its place by `write`; names the colour of a plain picture."""

    write: Writer
    tools: bool = True
    images: bool = True
    json_schema: bool = True

    def __call__(self, exchange: Exchange) -> None:
        """Answer one request."""
        request = exchange.request
        text, picture = _last_user(request)
        if (request.get("tools") and not self.tools) or ("response_format" in request and not self.json_schema):
            failure(400, "this server has neither tools nor schemas")(exchange)
        elif picture is not None and not self.images:
            failure(400, "this model reads no images")(exchange)
        else:
            self._answer(exchange, text, picture)

    def _answer(self, exchange: Exchange, text: str, picture: NDArray[np.uint8] | None) -> None:
        names = [tool["function"]["name"] for tool in exchange.request.get("tools", [])]
        if picture is not None and (asked := re.search(r"centre of the (\w+) disc", text)):
            first, second = self._place(picture, asked.group(1))
            _call(exchange, names, "point", {"first": first, "second": second})
        elif "ready" in text:
            says("ready")(exchange)
        else:
            colour = "yellow" if picture is None else _colour(picture)
            if names:
                _call(exchange, names, "report_colour", {"colour": colour})
            else:
                says(json.dumps({"colour": colour}))(exchange)

    def _place(self, picture: NDArray[np.uint8], colour: str) -> tuple[float, float]:
        distance = np.linalg.norm(picture.astype(float) - np.array(HUES[colour], dtype=float), axis=2)
        rows, columns = np.nonzero(distance < 90.0)
        height, width = picture.shape[:2]
        return self.write(float(columns.mean()), float(rows.mean()), width, height)


def _call(exchange: Exchange, names: list[str], name: str, arguments: dict[str, Any]) -> None:
    if name in names:
        calls(("call_1", name, json.dumps(arguments)))(exchange)
    else:
        says("```json\n" + json.dumps({"tool": name, "arguments": arguments}) + "\n```")(exchange)


def _colour(picture: NDArray[np.uint8]) -> str:
    mean = picture.reshape(-1, 3).mean(axis=0)
    return min(HUES, key=lambda name: float(np.linalg.norm(mean - np.array(HUES[name]))))


def _last_user(request: dict[str, Any]) -> tuple[str, NDArray[np.uint8] | None]:
    content = [m for m in request["messages"] if m["role"] == "user"][-1]["content"]
    if isinstance(content, str):
        return content, None
    text = " ".join(part["text"] for part in content if part["type"] == "text")
    urls = [part["image_url"]["url"] for part in content if part["type"] == "image_url"]
    return text, _decoded(urls[-1]) if urls else None


def _decoded(url: str) -> NDArray[np.uint8]:
    data = np.frombuffer(base64.b64decode(url.split(",", 1)[1]), dtype=np.uint8)
    picture = cv2.imdecode(data, cv2.IMREAD_COLOR)
    if picture is None:
        raise ValueError("the picture does not decode")
    return np.asarray(picture[:, :, ::-1], dtype=np.uint8)
