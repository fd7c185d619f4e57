"""Is the passage coherent, or does one of its sentences come from another text? The easy version, for comparison.

The same as `dc`, but the intruder is chosen at random from the other documents of the split, as in DiscoEval (Chen et
al. 2019) and its Spanish version (Araujo et al. 2022), so its topic and length may reveal the label. The scores on
`dc` and `dc_easy` differ by what topic words contribute; only `dc` measures coherence.
"""

import functools

from discoprobe.builders.config import Shape
from discoprobe.builders.discourse import dc
from discoprobe.builders.passages.distractors import ANY
from discoprobe.builders.task import DiscourseTask

_COMPARISON = "the published setting, kept for comparison: what it measures beside coherence is what `dc` removes"

TASK = DiscourseTask(
    labels=("coherent", "incoherent"),
    shape=Shape.SEQUENCE,
    sample=functools.partial(dc.sample, matching=ANY),
    pairs=True,
    least=dc.SIZE,
    exempt={"overlap": _COMPARISON, "similarity": _COMPARISON},
    version=2,
)
