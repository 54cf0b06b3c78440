"""Whether interactions and oracle plans of an episode fit together."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

Plan = tuple[str, Sequence[str], Sequence[str | None]]


def plan_fault(prerequisites: Mapping[str, Sequence[str]], plans: Sequence[Plan]) -> str:
    """What is wrong first, "" when nothing is.

    `prerequisites` by interaction id; a plan is its id, the ids that it requires, and those that its steps open.
    """
    for name, before in prerequisites.items():
        for other in before:
            if other not in prerequisites:
                return f"interaction {name!r}: prerequisite {other!r} is unknown"
    circle = _circle(prerequisites)
    if circle:
        return f"prerequisites go in a circle: {' -> '.join(circle)}"
    for plan_id, required, opened in plans:
        for named in (*required, *opened):
            if named not in prerequisites:
                return f"plan {plan_id!r}: interaction {named!r} is unknown"
        if set(required) != set(opened):
            return f"plan {plan_id!r}: requires {sorted(set(required))}, its steps open {sorted(map(str, set(opened)))}"
    return ""


def _circle(prerequisites: Mapping[str, Sequence[str]]) -> list[str]:
    """Ids that wait for each other, in order, the first again at the end; empty when there are none."""
    done: set[str] = set()
    for start in prerequisites:
        path: list[str] = []
        waiting = [(start, iter(prerequisites[start]))] if start not in done else []
        path += [start] if waiting else []
        while waiting:
            following = next(waiting[-1][1], None)
            if following is None:
                done.add(waiting.pop()[0])
                path.pop()
            elif following in path:
                return [*path[path.index(following) :], following]
            elif following not in done:
                path.append(following)
                waiting.append((following, iter(prerequisites[following])))
    return []
