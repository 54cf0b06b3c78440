"""When to try an endpoint again."""

from __future__ import annotations

import random
from datetime import datetime, timezone
from email.utils import parsedate_to_datetime

from mnav_models.endpoint import Patience

MAX_RETRY_AFTER_S = 3600.0


def backoff_s(patience: Patience, attempt: int, jitter: random.Random) -> float:
    """Seconds to wait after failed attempt number `attempt` (from 1):

    uniform in [0, min(max, base * 2^(attempt-1))].
    """
    ceiling = min(patience.backoff_max_s, patience.backoff_s * 2.0 ** min(attempt - 1, 32))
    return jitter.uniform(0.0, ceiling)


def retry_after_s(header: str | None, now: datetime) -> float | None:
    """Seconds that a Retry-After header (seconds or an HTTP date) asks for, None where it says nothing usable."""
    if header is None:
        return None
    text = header.strip()
    if text.isascii() and text.isdigit() and len(text) <= 9:
        return min(float(text), MAX_RETRY_AFTER_S)
    try:
        moment = parsedate_to_datetime(text)
    except ValueError:
        return None
    if moment.tzinfo is None:
        moment = moment.replace(tzinfo=timezone.utc)
    return min(max(0.0, (moment - now).total_seconds()), MAX_RETRY_AFTER_S)
