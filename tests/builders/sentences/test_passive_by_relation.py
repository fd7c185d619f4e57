"""Voice in languages without data, by what their treebanks annotate."""

import pytest

from discoprobe.builders import Context, Settings
from discoprobe.builders.sentences import Trees, feature_of_predicate
from discoprobe.builders.sentences.predicate import PROFILED
from discoprobe.loaders.conllu import read_corpora
from discoprobe.loaders.languages import language_data

SENTENCE = """# sent_id = {n}
# text = Dit word {verb}.
1	Dit	dit	PRON	_	_	3	{subject}	_	_
2	word	{helper}	AUX	_	{feats}	3	{aux}	_	_
3	{verb}	doen	VERB	_	VerbForm=Part	0	root	_	SpaceAfter=No
4	.	.	PUNCT	_	_	3	punct	_	_

"""
PASSIVE = {"verb": "gedoen", "subject": "nsubj:pass", "aux": "aux:pass", "feats": "VerbForm=Fin", "helper": "word"}
ACTIVE = PASSIVE | {"verb": "doen", "subject": "nsubj", "aux": "aux", "helper": "het"}


def _selected(tmp_path, template, *sentences):
    file = tmp_path / "af_case-ud-test.conllu"
    file.write_text("".join(template.format(n=n, **values) for n, values in enumerate(sentences)), encoding="utf-8")
    (shard,) = read_corpora([file])["af"].shards()
    context = Context("pred_voice", language_data("af"), Settings(), ())
    return feature_of_predicate(Trees(shard), context, feature="Voice")


def _voices(tmp_path, *sentences):
    found = _selected(tmp_path, SENTENCE, *sentences)
    return set(found.filter(found["hindrance"].is_null())["label"])


def test_relations_tell_the_voice_of_a_treebank_without_voice(tmp_path):
    assert _voices(tmp_path, *[PASSIVE] * PROFILED, ACTIVE) == {"Passive", "Active"}


@pytest.mark.parametrize("sentences", [[PASSIVE, ACTIVE], [ACTIVE] * PROFILED])
def test_a_treebank_that_hardly_marks_the_passive_has_none(tmp_path, sentences):
    assert _voices(tmp_path, *sentences) == set()


def test_an_auxiliary_that_makes_passives_elsewhere_leaves_the_voice_undecided(tmp_path):
    """Breton *bezañ* makes passives and perfects, and one treebank has them as ``aux`` and ``aux:pass`` at random."""
    unsure = ACTIVE | {"helper": "word"}
    assert _voices(tmp_path, *[PASSIVE] * PROFILED, unsure) == {"Passive"}


def test_voice_of_the_verb_is_preferred(tmp_path):
    voiced = ACTIVE | {"feats": "VerbForm=Fin|Voice=Act"}
    assert _voices(tmp_path, *[PASSIVE] * PROFILED, voiced) == set(), "the root has no Voice"


VERB = """# sent_id = {n}
# text = Liber {verb}.
1	Liber	liber	NOUN	_	_	2	{subject}	_	_
2	{verb}	{verb}	VERB	_	VerbForm=Fin|Voice=Pass	0	root	_	SpaceAfter=No
3	.	.	PUNCT	_	_	2	punct	_	_

"""
SEEN = {"verb": "videtur", "subject": "advmod"}
READ, DEPONENT = {"verb": "legitur", "subject": "nsubj:pass"}, {"verb": "hortatur", "subject": "nsubj"}


@pytest.mark.parametrize(("passives", "undecided"), [(PROFILED, 3), (PROFILED - 1, 0)])
def test_a_passive_form_with_the_subject_of_an_active_verb_is_undecided(tmp_path, passives, undecided):
    """Latin deponents and verbs that have neither subject; only a treebank with passive subjects shows them."""
    sentences = [*[READ] * passives, READ | {"subject": "nsubj"}, DEPONENT, DEPONENT | {"subject": "advmod"}, SEEN]
    assert _selected(tmp_path, VERB, *sentences)["hindrance"].count() == undecided
