"""Success rules of other published evaluations of single-object episodes, by name (SuperNav, appendix B)."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from enum import Enum
from types import MappingProxyType

from mnav_core.errors import UsageError


class Variant(Enum):
    """A named rule."""

    PAPER = "paper"
    OVON_025 = "ovon-0.25"
    OVON_1 = "ovon-1"
    APEXNAV = "apexnav"
    WMNAV = "wmnav"
    MTU3D = "mtu3d"


@dataclass(frozen=True)
class VariantRule:
    """Final geodesic distance strictly below `distance_m`, with or without STOP.

    `credits_unreachable`: designated episodes count as SR 1 and SPL 1 whatever the run did; how many is printed.
    """

    distance_m: float
    needs_stop: bool
    credits_unreachable: bool = False


RULES: Mapping[Variant, VariantRule] = MappingProxyType(
    {
        Variant.PAPER: VariantRule(1.0, True),
        Variant.OVON_025: VariantRule(0.25, False),
        Variant.OVON_1: VariantRule(1.0, False),
        Variant.APEXNAV: VariantRule(0.2, True),
        Variant.WMNAV: VariantRule(1.0, False),
        Variant.MTU3D: VariantRule(0.25, False, credits_unreachable=True),
    }
)
_SAME = MappingProxyType({"msgnav": Variant.WMNAV, "wmnav/msgnav": Variant.WMNAV})


@dataclass(frozen=True)
class VariantScore:
    """Success and SPL of one episode under a variant, and whether both were credited."""

    success: bool
    spl: float
    credited: bool = False


def find_variant(name: str) -> Variant:
    """The variant of a name. Raises UsageError naming the known ones."""
    if name in _SAME:
        return _SAME[name]
    for variant in Variant:
        if variant.value == name:
            return variant
    raise UsageError(f"variant {name!r} is unknown, allowed: {', '.join(v.value for v in Variant)}, {', '.join(_SAME)}")


def score_variant(
    variant: Variant,
    final_distance_m: float,
    stopped: bool,
    reference_m: float,
    path_m: float,
    designated_unreachable: bool = False,
) -> VariantScore:
    """One episode under a variant: `final_distance_m` from the final position to the nearest viewpoint."""
    rule = RULES[variant]
    if rule.credits_unreachable and designated_unreachable:
        return VariantScore(True, 1.0, credited=True)
    success = final_distance_m < rule.distance_m and (stopped or not rule.needs_stop)
    longest = max(reference_m, path_m)
    ratio = 1.0 if longest == 0.0 else reference_m / longest
    return VariantScore(success, ratio if success else 0.0)
