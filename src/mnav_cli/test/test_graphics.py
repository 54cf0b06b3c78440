"""Choosing an OpenGL that works without a screen."""

from __future__ import annotations

import pytest

from mnav_cli.graphics import BACKENDS, choose_backend
from mnav_core.errors import UsageError


@pytest.mark.sim
def test_a_backend_that_works_is_found_after_one_that_does_not() -> None:
    assert choose_backend(("no-such-backend", *BACKENDS)) in BACKENDS


def test_no_backend_is_one_line_with_the_packages_to_install() -> None:
    with pytest.raises(UsageError, match=r"tried no-such-backend; .*libegl1 .*libosmesa6") as caught:
        choose_backend(("no-such-backend",))
    assert "\n" not in str(caught.value)
