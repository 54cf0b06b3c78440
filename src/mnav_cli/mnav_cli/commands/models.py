"""`mnav models`: what a chat model behind an endpoint can do."""

from __future__ import annotations

import argparse
import json
from typing import Any

from mnav_core.errors import UsageError
from mnav_models.api_key import ApiKey
from mnav_models.calibration import Calibration
from mnav_models.capability_probe import ProbeReport, probe
from mnav_models.endpoint import parse_endpoint
from mnav_models.open_model import read_key

DEADLINE_S = 30.0


def configure(parser: argparse.ArgumentParser) -> None:
    """The actions and their arguments."""
    actions = parser.add_subparsers(dest="action", required=True, metavar="ACTION")
    probing = actions.add_parser("probe", help="ask an endpoint about ten short questions and print what it can do")
    probing.add_argument("model", metavar="URL#NAME", help="for example http://127.0.0.1:8000/v1#qwen3-vl")
    probing.add_argument("--key", metavar="FILE", help="file with the key (mode 600), or keyring:SERVICE")
    probing.add_argument("--deadline", type=float, default=DEADLINE_S, metavar="S", help="seconds for each question")
    probing.add_argument("--json", action="store_true", help="print one JSON object")


def run(args: argparse.Namespace) -> int:
    """Probe; 0 if the endpoint answered, 1 if not."""
    if not args.deadline > 0.0:
        raise UsageError(f"--deadline {args.deadline}: allowed is > 0 seconds")
    key: ApiKey | None = read_key(args.key)
    report = probe(parse_endpoint(args.model, key), deadline_s=args.deadline)
    print(json.dumps(as_json(report)) if args.json else as_text(report))
    return 0 if report.reachable else 1


def as_json(report: ProbeReport) -> dict[str, Any]:
    """The report as plain JSON values."""
    can = report.capabilities
    return {
        "model": report.name,
        "reachable": report.reachable,
        "outcome": report.outcome.value,
        "reason": report.reason,
        "tools": can.tools,
        "required_tool_choice": can.required_tool_choice,
        "json_schema": can.json_schema,
        "images": can.images,
        "sampling": can.sampling,
        "token_limit_field": can.token_limit_field.value,
        "latency_s": report.latency_s,
        "coordinates": None if report.calibration is None else _calibration_json(report.calibration),
        "notes": report.notes,
    }


def _calibration_json(calibration: Calibration) -> dict[str, Any]:
    frame = calibration.frame
    return {
        "outcome": calibration.outcome.value,
        "convention": None if frame is None else frame.convention.value,
        "order": None if frame is None else frame.order.value,
        "resize": None if frame is None else frame.measured,
        "channels": calibration.channels.value,
        "mirroring": calibration.mirroring.value,
        "rms": None if frame is None else calibration.rms,
        "reason": calibration.reason,
    }


def as_text(report: ProbeReport) -> str:
    """The report in lines for a person."""
    if not report.reachable:
        return f"{report.name}\n  no answer: {report.outcome.value}: {report.reason}"
    can = report.capabilities
    abilities = {
        "tools": (can.tools, "calls will be read from text"),
        "json_schema": (can.json_schema, "the schema will be written into the prompt"),
        "images": (can.images, "images will be withheld"),
        "sampling": (can.sampling, "temperature and seed will be left out"),
    }
    lines = [report.name]
    for name, (able, otherwise) in abilities.items():
        because = f" ({report.notes[name]})" if name in report.notes and not able else ""
        lines.append(f"  {name:<12} {'yes' if able else f'no: {otherwise}{because}'}")
    latency = "unknown" if report.latency_s is None else f"{1000.0 * report.latency_s:.0f} ms (median of short turns)"
    lines.append(f"  {'latency':<12} {latency}")
    lines.append(f"  {'coordinates':<12} {_calibration_text(report.calibration)}")
    return "\n".join(lines)


def _calibration_text(calibration: Calibration | None) -> str:
    if calibration is None:
        return "not asked: no images"
    if calibration.frame is None:
        return f"{calibration.outcome.value}: {calibration.reason}"
    frame = calibration.frame
    scale = "" if frame.measured is None else f" x{frame.measured[0]:.2f}, x{frame.measured[1]:.2f}"
    seen = f"{calibration.channels.value}, mirrored {calibration.mirroring.value}"
    return (
        f"{frame.convention.value}{scale}, {frame.order.value} order; sees {seen}; misfit {calibration.rms:.3f} sides"
    )
