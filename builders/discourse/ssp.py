"""Is a sentence of the lead of its article, or of the body?

Sentence section prediction (DiscoEval, Chen et al. 2019). The sentence is from the first section of a document, which
ends before the first heading after the title (`lead`), or from a later section (`body`). Every sentence of a lead has a
counterpart in the body of the same document: their lengths differ by a tenth at most, they have the same final mark,
and both or neither have brackets, digits, and a capital at the second word. In half of the pairs the sentence of the
lead has more words, in the other half the sentence of the body has more; the same holds for characters, capitals and
punctuation marks. The first sentence of a document (often a definition with dates) is in no row, and neither are
sentences with a speaker. In the published sets the labels alternate with the lines of the file, a colon or the name of
the newspaper tells the label, and length alone reaches .64-.66.
"""

import polars as pl

from discoprobe.builders.passages.corpus_labels import counterpart_task

USED = pl.col("section").is_not_null() & pl.col("speaker").is_null() & (pl.col("index") > 0)
LEAD = pl.when(USED).then(pl.col("section") == 0)

ASKS = "Lead or body of an article?"
TASK = counterpart_task(("lead", "body"), LEAD, needs=["documents", "sections"])
