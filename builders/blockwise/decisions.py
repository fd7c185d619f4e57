"""What the first blocks of a large corpus decide for all: the classes of tasks with open label sets."""

import dataclasses
from collections.abc import Sequence
from concurrent.futures import Executor
from itertools import repeat

from discoprobe.builders.blockwise.block_rows import BlockPlan, candidates_of, load
from discoprobe.builders.blockwise.cut import Block
from discoprobe.builders.sample import sample
from discoprobe.builders.selection import Candidates, merged
from discoprobe.builders.task import AnyTask

FIRST = (1, 2, 4, 8)
"""So many blocks decide: the first number that suffices. A class that eight have too few candidates of is no class."""


def with_labels(
    plan: BlockPlan, blocks: Sequence[Block], tasks: Sequence[AnyTask], executor: Executor | None, calls: int
) -> tuple[BlockPlan, dict[str, str]]:
    """The plan with the labels of tasks with open label sets, and why those of the others cannot be decided.

    Args:
        plan: what is known already.
        blocks: all blocks in their order.
        tasks: what is built.
        executor: decides; without one it is done here.
        calls: the executor gets the tasks in so many groups, which it decides at the same time.

    Raises:
        DiscoprobeError: a part of a block cannot be read.
    """
    deciding = [task for task in tasks if task.open]
    if not deciding:
        return plan, {}
    groups = [group for n in range(calls) if (group := deciding[n::calls])] if executor else [deciding]
    decided = [*(executor.map if executor else map)(decide, repeat(blocks[: FIRST[-1]]), groups, repeat(plan))]
    labels, reasons = ({name: one for of in found for name, one in of.items()} for found in zip(*decided, strict=True))
    return dataclasses.replace(plan, labels=labels), reasons


def decide(
    blocks: Sequence[Block], tasks: Sequence[AnyTask], plan: BlockPlan
) -> tuple[dict[str, tuple[str, ...]], dict[str, str]]:
    """The labels of each task by the first blocks, as few as ``FIRST`` permits, and why the other tasks have none.

    Args:
        blocks: the first ones, in their order.
        tasks: those with open labels.
        plan: what is known already.

    Raises:
        DiscoprobeError: a part of a block cannot be read.
    """
    labels: dict[str, tuple[str, ...]] = {}
    reasons: dict[str, str] = {}
    candidates: list[Candidates] = []
    for n_blocks in FIRST:
        left = [task for task in tasks if task.name not in labels]
        new_blocks = blocks[len(candidates) : n_blocks]
        if not left or not new_blocks:
            break
        candidates += [candidates_of(load(block), left, plan) for block in new_blocks]
        together = merged(candidates, left)
        for task in left:
            made = sample(task, together, plan.language, plan.settings.without_sizes())
            if made.problem:
                reasons[task.name] = made.problem
            else:
                labels[task.name] = made.used
    return labels, {name: reason for name, reason in reasons.items() if name not in labels}
