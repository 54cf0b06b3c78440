"""Fixtures of every test: a ROS domain of its own for each test that starts nodes."""

from __future__ import annotations

from collections.abc import Iterator

import pytest


@pytest.fixture(autouse=True)
def ros_domain(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> Iterator[int | None]:
    """For tests marked `ros`: a domain nobody else on this machine uses, set in the environment. Else None."""
    if request.node.get_closest_marker("ros") is None:
        yield None
        return
    from mnav_cli.domains import lease_free_domain

    with lease_free_domain(request.node.nodeid) as lease:
        monkeypatch.setenv("ROS_DOMAIN_ID", str(lease.domain))
        monkeypatch.setenv("ROS_AUTOMATIC_DISCOVERY_RANGE", "LOCALHOST")
        yield lease.domain
