"""Tense of the main predicate (SentEval Tense, X-Probe PastPresent, RuSentEval PV tense).

The label is the Tense of the main predicate, read from the word that carries it: the root, or its finite auxiliary or
copula where the language marks tense there. `target` is that word. Perfects (*hat gesagt*, *a dit*, *has been*) and
periphrastic futures (*va a llover*), like every other predicate with `aux:tense`, are left out, because treebanks
annotate the tense of their auxiliary and not what they mean. If a compound is the usual form of a tense (Catalan *va
cantar* and Croatian *je radio* are `Past`), the data of the language give its label, and the main verb is the target.
Then the auxiliary predicts the label: the best rule of one token is right in .84 of the Catalan rows, in .74 of the
Croatian and Slovene ones, and in .50 to .58 in other languages. A participle alone has no tense, except in a treebank
whose verbs have no other past (Slovak *robil*).

These are left out too: a verb with a particle that has no features (Bulgarian *ще*, a future); a conditional or
subjunctive, whose Past does not mean past (Russian *написал бы*, German *könnte*); an imperative; a Turkish verb with
the past copula (*anlatırdı*); a predicate that is a clause (*the best was that they agree*). SentEval and X-Probe have
past and present only; here every tense that is frequent enough is a class. Aspect would predict tense in Slavic
languages, in which no perfective verb is present.
"""

from discoprobe.builders.sentences.predicate import predicate_feature

ASKS = "Tense of the predicate"
TASK = predicate_feature("Tense", companions=("Aspect",))
