"""Is the passage coherent, or does one of its sentences come from another text? The easy version, for comparison.

The same as `dc`, but the distractor is chosen at random from the other documents of the split, as in DiscoEval (Chen et
al. 2019) and its Spanish version (Araujo et al. 2022), so its topic and length may reveal the label. The difference
between the scores on `dc_easy` and `dc` is what topic words and length contribute; only `dc` measures coherence.
"""

from discoprobe.builders.passages.distractors import ANY, distractor_task

COMPARISON = "the published setting, kept for comparison: what it measures beside coherence is what `dc` removes"

TASK = distractor_task(
    6, ("coherent", "incoherent"), ANY, exempt=dict.fromkeys(("length", "overlap", "similarity"), COMPARISON), version=3
)
