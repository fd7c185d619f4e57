"""Is the passage coherent, or does one of its sentences come from another text?

Discourse coherence (DiscoEval, Chen et al. 2019; Spanish: Araujo et al. 2022). A passage is six consecutive sentences
(`coherent`), or the same sentences with one of the second to the fifth replaced by a distractor: a sentence of another
document of the same corpus and split (`incoherent`). Both versions share `pair_id`, and `position` is the index of the
distractor, which occurs in no other row. It has about the length of the sentence that it replaces (the longer one has
at most 20 % more words and 30 % more characters), shares about as many content words with the passage, and follows a
colon, or ends with one, if that sentence does. In half of the pairs it is more similar to the passage, and to its
neighbours, than that sentence, by characters and by words; in half of the pairs it is more typical of the corpus. In
large texts, pairs are also chosen so that neither its length reveals it, nor how similar it is to each of the other
sentences, nor several such measures together. Still, another document usually has another topic (in DiscoEval, whose
distractors are chosen at random, lexical overlap alone reaches .71 on Wikipedia). The best cheap trick on the card
shows how much of a score this explains: its accuracy minus one half.
"""

from discoprobe.builders.passages.distractors import distractor_task

ASKS = "Is a sentence from outside?"
TASK = distractor_task(6, ("coherent", "incoherent"), version=6)
