"""Instructions by rule from a plan, at three levels of disclosure (MultINav, Appendix C, figure 6)."""

from __future__ import annotations

from collections.abc import Sequence

from mnav_bench.multinav.episode_files import Instruction, Interaction, Plan


def instructions(category: str, plan: Plan, interactions: Sequence[Interaction]) -> tuple[Instruction, ...]:
    """Hidden names the goal alone, partial says that something may be in the way, explicit names each action in order.

    Every text carries the plan's steps and the entities that it rests on.
    """
    thing = category.replace("_", " ")
    known = {i.interaction_id: i for i in interactions}
    opened = [(k, known[s.interaction_id]) for k, s in enumerate(plan.steps) if s.kind == "open"]
    last = len(plan.steps) - 1
    partial = f"Make your way to the {thing}; what is closed on the way, or around it, may have to be opened."
    parts = [f"{'go' if n == 0 else 'then go on'} to the {_name(one)} and open it" for n, (_, one) in enumerate(opened)]
    explicit = ", ".join([*parts, f"{'then ' if parts else ''}find the {thing}"])
    steps = tuple(k for k, _ in opened)
    entities = tuple(one.entity for _, one in opened)
    return (
        Instruction(disclosure="hidden", text=f"Find the {thing}.", plan_steps=(last,), entities=()),
        Instruction(disclosure="partial", text=partial, plan_steps=(*steps, last), entities=()),
        Instruction(
            disclosure="explicit",
            text=f"{explicit[0].upper()}{explicit[1:]}.",
            plan_steps=(*steps, last),
            entities=entities,
        ),
    )


def _name(interaction: Interaction) -> str:
    return interaction.category.replace("_", " ")
