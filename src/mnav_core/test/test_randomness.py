"""Seeds."""

from mnav_core.randomness import derive_seed, generator


def test_seeds_do_not_depend_on_how_parts_run_together() -> None:
    assert derive_seed("a", 12) != derive_seed("a1", 2)
    assert derive_seed("1") != derive_seed(1)
    assert derive_seed("navtoobj", 1, 0) == derive_seed("navtoobj", 1, 0)


def test_ranges_of_neighbouring_seeds_do_not_overlap() -> None:
    seeds = [derive_seed("navtoobj", s, i) for s in range(50) for i in range(200)]
    assert len(set(seeds)) == len(seeds) and min(seeds) >= 0 and max(seeds) < 2**63


def test_generators_repeat() -> None:
    assert generator("x", 1).random() == generator("x", 1).random() != generator("x", 2).random()
