"""The probe against a scripted model that really looks at its pictures."""

from __future__ import annotations

import numpy as np
import pytest

from mnav_core.chat import TurnOutcome
from mnav_models.calibration import Calibration, CalibrationOutcome, Channels, Mirroring, calibrate, draw_picture, fit
from mnav_models.capability_probe import ProbeReport, probe
from mnav_models.coordinates import AxisOrder, Convention
from mnav_models.endpoint import Patience, TokenLimitField, parse_endpoint
from mnav_models.endpoint_model import open_endpoint
from mnav_models.testing.behaviours import BEHAVIOURS, Behaviour, Exchange, failure
from mnav_models.testing.fault_server import FaultServer
from mnav_models.testing.pointing_model import PointingModel, Writer

QUICK = Patience(attempts=1, attempt_s=2.0)


def per_mille(x: float, y: float, width: int, height: int) -> tuple[float, float]:
    return 1000.0 * x / width, 1000.0 * y / height


WRITERS: dict[str, tuple[Writer, Convention, AxisOrder, Mirroring]] = {
    "unit": (lambda x, y, w, h: (x / w, y / h), Convention.UNIT, AxisOrder.XY, Mirroring.NONE),
    "percent": (lambda x, y, w, h: (100 * x / w, 100 * y / h), Convention.PERCENT, AxisOrder.XY, Mirroring.NONE),
    "per_mille": (per_mille, Convention.PER_MILLE, AxisOrder.XY, Mirroring.NONE),
    "pixels": (lambda x, y, w, h: (x, y), Convention.PIXELS_SENT, AxisOrder.XY, Mirroring.NONE),
    "yx": (lambda x, y, w, h: per_mille(x, y, w, h)[::-1], Convention.PER_MILLE, AxisOrder.YX, Mirroring.NONE),
    "resized": (lambda x, y, w, h: (0.7 * x, 0.7 * y), Convention.PIXELS_RESIZED, AxisOrder.XY, Mirroring.NONE),
    "mirrored": (
        lambda x, y, w, h: per_mille(w - x, y, w, h),
        Convention.PER_MILLE,
        AxisOrder.XY,
        Mirroring.LEFT_RIGHT,
    ),
    "flipped": (lambda x, y, w, h: per_mille(x, h - y, w, h), Convention.PER_MILLE, AxisOrder.XY, Mirroring.UP_DOWN),
}


def probed(*behaviours: Behaviour) -> ProbeReport:
    with FaultServer(behaviours, keep_bodies=False) as server:
        return probe(parse_endpoint(f"{server.url}#scripted"), QUICK, deadline_s=3.0)


def calibrated(behaviour: Behaviour, swapped: bool = False) -> Calibration:
    picture = np.ascontiguousarray(draw_picture()[:, :, ::-1]) if swapped else None
    with FaultServer([behaviour], keep_bodies=False) as server:
        model = open_endpoint(parse_endpoint(f"{server.url}#scripted"), patience=QUICK)
        try:
            return calibrate(model, 3.0, picture=picture)
        finally:
            model.close()


@pytest.mark.parametrize("name", sorted(WRITERS))
def test_convention_is_found(name: str) -> None:
    write, convention, order, mirroring = WRITERS[name]
    found = calibrated(PointingModel(write))
    assert found.outcome is CalibrationOutcome.CALIBRATED, found.reason
    assert found.frame is not None and found.frame.convention is convention and found.frame.order is order
    assert (found.mirroring, found.channels) == (mirroring, Channels.RGB)
    # The frame turns what this model writes for a place back into the place.
    if mirroring is Mirroring.NONE:
        assert found.frame.to_unit(write(320.0, 90.0, 640, 360), 640, 360) == pytest.approx((0.5, 0.25), abs=0.01)


def test_swapped_channels_are_noticed() -> None:
    assert calibrated(PointingModel(per_mille), swapped=True).channels is Channels.BGR


@pytest.mark.parametrize(
    "write", [lambda x, y, w, h: (500.0, 500.0), lambda x, y, w, h: (0.0, 0.0)], ids=["middle", "corner"]
)
def test_model_that_does_not_look_is_unclear(write: Writer) -> None:
    found = calibrated(PointingModel(write))
    assert found.outcome is CalibrationOutcome.UNCLEAR and found.frame is None and found.reason


def test_one_wrong_answer_is_not_explained_away() -> None:
    answers = {"red": (200.0, 250.0), "green": (450.0, 720.0), "blue": (100.0, 900.0), "magenta": (620.0, 140.0)}
    assert fit(answers).outcome is CalibrationOutcome.UNCLEAR


def test_consistent_but_coarse_pointing_is_unclear() -> None:
    # Every disc missed by 40 and 40 of 1000, that is by 0.057 sides.
    answers = {"red": (160.0, 290.0), "green": (490.0, 760.0), "blue": (820.0, 380.0), "magenta": (660.0, 180.0)}
    found = fit(answers)
    assert found.outcome is CalibrationOutcome.UNCLEAR and "misses by 0.06 sides" in found.reason


def test_small_errors_are_forgiven() -> None:
    answers = {"red": (212.0, 238.0), "green": (441.0, 733.0), "blue": (871.0, 405.0), "magenta": (611.0, 152.0)}
    found = fit(answers)
    assert found.outcome is CalibrationOutcome.CALIBRATED and found.frame is not None
    assert found.frame.convention is Convention.PER_MILLE


def test_no_answer() -> None:
    found = calibrated(BEHAVIOURS["prose"])
    assert found.outcome is CalibrationOutcome.NO_ANSWER and "red" in found.reason


def test_able_endpoint() -> None:
    report = probed(PointingModel(per_mille))
    can = report.capabilities
    assert report.reachable and report.notes == {}
    assert can.tools and can.required_tool_choice and can.json_schema and can.images and can.sampling
    assert report.latency_s is not None and 0.0 < report.latency_s < 1.0
    assert report.calibration is not None and report.calibration.outcome is CalibrationOutcome.CALIBRATED


def test_plain_endpoint_is_used_through_text() -> None:
    report = probed(PointingModel(per_mille, tools=False, json_schema=False))
    assert report.reachable and not report.capabilities.tools and not report.capabilities.json_schema
    assert "neither tools" in report.notes["tools"]
    assert report.calibration is not None and report.calibration.outcome is CalibrationOutcome.CALIBRATED


def test_blind_endpoint() -> None:
    report = probed(PointingModel(per_mille, images=False))
    assert report.capabilities.tools and not report.capabilities.images and report.calibration is None
    assert "no images" in report.notes["images"]


def test_model_that_guesses_colours_counts_as_blind() -> None:
    def guess(exchange: Exchange) -> None:
        for message in exchange.request["messages"]:
            if isinstance(message["content"], list):
                message["content"] = " ".join(part["text"] for part in message["content"] if part["type"] == "text")
        PointingModel(per_mille)(exchange)

    report = probed(guess)
    assert not report.capabilities.images and "yellow" in report.notes["images"]


def test_picky_endpoint_is_given_what_it_takes() -> None:
    def picky(exchange: Exchange) -> None:
        if "max_tokens" in exchange.request or "temperature" in exchange.request:
            failure(400, "unsupported parameter")(exchange)
        else:
            PointingModel(per_mille)(exchange)

    report = probed(picky)
    assert report.reachable and not report.capabilities.sampling
    assert report.capabilities.token_limit_field is TokenLimitField.MAX_COMPLETION_TOKENS


def test_tool_choice_that_is_refused() -> None:
    def choosy(exchange: Exchange) -> None:
        if exchange.request.get("tool_choice") == "required":
            failure(400, "tool_choice must be auto")(exchange)
        else:
            PointingModel(per_mille)(exchange)

    can = probed(choosy).capabilities
    assert can.tools and not can.required_tool_choice


@pytest.mark.parametrize(
    ("name", "outcome"), [("http-500", TurnOutcome.SERVER_ERROR), ("reset", TurnOutcome.UNREACHABLE)]
)
def test_endpoint_that_does_not_answer(name: str, outcome: TurnOutcome) -> None:
    report = probed(BEHAVIOURS[name])
    assert not report.reachable and report.outcome is outcome and report.reason
