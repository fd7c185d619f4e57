"""Other harnesses score a tiny random model on what `build export` writes, and get what `build probe` gets.

Each runs in a process of its own, and is skipped if it is not installed (the extra ``harnesses``).
"""

import importlib.util
import json
import math
import os
import re
import shutil
import subprocess
import sys

import numpy as np
import polars as pl
import pytest
import syntaxgym_files
from made_sentences import document
from tiny_models import tokenizer_of

torch = pytest.importorskip("torch", reason="the extra 'probe' is not installed")
transformers = pytest.importorskip("transformers", reason="the extra 'probe' is not installed")

from discoprobe.auditing import read_all
from discoprobe.builders import Config, Settings, build_all, tasks_named
from discoprobe.builders.audit.inputs.data_files import Reading
from discoprobe.cards.release import open_release
from discoprobe.cards.release.export import export
from discoprobe.evaluation import evaluations_of_harness, load_model, probes, surprisal, surprisals, write_comparison
from discoprobe.loaders import silent
from discoprobe.sources import load_corpus

pytestmark = pytest.mark.slow

LM_EVAL = """
import json, sys
import lm_eval
from lm_eval.models.huggingface import HFLM
from lm_eval.tasks import TaskManager
model = HFLM(
    pretrained=sys.argv[1], dtype="float32", device="cpu", batch_size=8, add_bos_token=True, logits_cache=False
)
manager = TaskManager(include_path=".", include_defaults=False)
accuracies, logs = {}, {}
for group in sys.argv[2:]:  # one by one: the same task must not be in two groups
    results = lm_eval.simple_evaluate(model=model, tasks=[group], task_manager=manager, log_samples=True)
    of_group = {name: of["acc,none"] for name, of in {**results["results"], **results["groups"]}.items()}
    assert all(accuracies.get(name, accuracy) == accuracy for name, accuracy in of_group.items()), of_group
    accuracies |= of_group
    for name, samples in results["samples"].items():
        in_order = sorted(samples, key=lambda each: each["doc_id"])
        logs[name] = [[answer[0] for answer in each["filtered_resps"]] for each in in_order]
print(json.dumps([accuracies, logs]))
"""

# lighteval's command loads all its own tasks first, and with huggingface-hub 2 and without a network this fails
# (0.13: `HfApi.list_models(model_name=…)`, `tinyBenchmarks.pkl`): here its task, model and metric do what it does then.
LIGHTEVAL = """
import json, sys
from lighteval.metrics import apply_metric
from lighteval.models.transformers.transformers_model import TransformersModel, TransformersModelConfig
from lighteval.tasks.lighteval_task import LightevalTask
from lighteval.tasks.registry import Registry
config = TransformersModelConfig(model_name=sys.argv[1], dtype="float32", batch_size=16, device="cpu")
model = TransformersModel(config)
accuracies, logs = {}, {}
for name, config in Registry._extract_configs(Registry.create_custom_tasks_module("discoprobe_tasks.py")).items():
    task = LightevalTask(config)
    docs = task.get_docs()
    responses = model._loglikelihood_tokens(docs)
    scores = apply_metric(responses=responses, docs=docs, metrics=task.metrics)
    accuracies[name] = float(task.aggregation()["acc"]([score["acc"] for score in scores]))
    logs[name] = [[float(log) for log in response.logprobs]
                  for _, response in sorted(zip(docs, responses), key=lambda pair: int(pair[0].id))]
print(json.dumps([accuracies, logs]))
"""

MINICONS = """
import json, sys
from minicons.scorer import IncrementalLMScorer
scorer = IncrementalLMScorer(sys.argv[1], "cpu")
texts = json.load(open("texts.json", encoding="utf-8"))
scores = scorer.token_score(texts, surprisal=True, base_two=False)
print(json.dumps([[bits for token, bits in each if token not in ("[BOS]", "[PAD]")] for each in scores]))
"""

MINICONS_MASKED = """
import json, sys
from minicons.scorer import MaskedLMScorer
scorer = MaskedLMScorer(sys.argv[1], "cpu")
if not hasattr(scorer.tokenizer, "batch_encode_plus"):  # transformers 5 has it no more
    type(scorer.tokenizer).batch_encode_plus = type(scorer.tokenizer).__call__
texts = json.load(open("texts.json", encoding="utf-8"))
scores = scorer.token_score(texts, surprisal=True, base_two=False, PLL_metric="within_word_l2r")
print(json.dumps([[bits for token, bits in each if token not in ("[CLS]", "[SEP]", "[PAD]")] for each in scores]))
"""

MTEB = """
import json, sys
import mteb, sentence_transformers
from discoprobe.evaluation.mteb_tasks import mteb_tasks
results = mteb.evaluate(sentence_transformers.SentenceTransformer(sys.argv[1]), mteb_tasks("release"), cache=None)
print(json.dumps({each.task_name: each.scores["test"][0] for each in results.task_results}))
"""


def run(package, program, folder, *arguments):
    """What a program that needs a package prints in its last line, read as JSON."""
    if importlib.util.find_spec(package) is None:
        pytest.skip(f"{package} is not installed (the extra 'harnesses')")
    done = subprocess.run(
        [sys.executable, "-c", program, *arguments], cwd=folder, capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stderr[-3000:]
    return json.loads(done.stdout.splitlines()[-1])


@pytest.fixture(scope="module")
def release(corpus_of, tmp_path_factory):
    """Suites of Spanish and German, a config of choices, one of pairs, and one of items with named persons."""
    own = tmp_path_factory.mktemp("own")
    story = ("{a} came home late.", "She:a slept.", "{b} sang very loud.", "She:b left.", "{c} laughed aloud.")
    names = [("Anna", "Berta"), ("Clara", "Dora"), ("Emma", "Fanny"), ("Gerda", "Hilda")]
    made_texts = [
        document(n, [text.replace("{c}", ("{a}", "{b}")[n % 2]) for text in story], a=a, b=b)
        for n, (a, b) in enumerate(names)
    ]
    (own / "en_made-ud-test.conllu").write_text("".join(made_texts), encoding="utf-8")
    folder = tmp_path_factory.mktemp("release") / "suites"
    with open_release(folder) as made:
        for lang in ("de", "es"):
            corpus = corpus_of("sample", lang)
            made.add_corpus(corpus)
            for result in build_all(tasks_named(["suites", "cloze", "bigram_shift"]), corpus, Settings(min_class=2)):
                if isinstance(result, Config):
                    made.add(result)
        corpus = load_corpus("en", [str(own)])
        made.add_corpus(corpus)
        for result in build_all(tasks_named(["antecedent_suite"]), corpus, Settings(min_class=2)):
            if isinstance(result, Config):
                made.add(result)
        made.finish()
    return folder


@pytest.fixture(scope="module")
def configs(release):
    """The configs by name."""
    names = sorted(path.parent.name for path in release.glob("*/test-*.parquet"))
    read = {data.name: data for data in read_all(names, release, Reading())[0]}
    assert {"antecedent_suite_en", "agreement_suite_es", "cloze_es", "cloze_suite_es", "order_all_de"} <= read.keys()
    return read


@pytest.fixture(scope="module")
def gpt(configs, tmp_path_factory):
    """The folder of a random GPT-2 that knows the words of all texts."""
    folder = tmp_path_factory.mktemp("gpt")
    texts = " ".join(text for data in configs.values() for of_row in data.rows["texts"] for text in of_row)
    splitter = tokenizer_of([]).backend_tokenizer.pre_tokenizer
    words = sorted({word for word, _ in splitter.pre_tokenize_str(texts)})
    tokenizer = tokenizer_of(words, begin=True, longest=512)
    torch.manual_seed(3)
    transformers.GPT2LMHeadModel(transformers.GPT2Config(
        vocab_size=len(tokenizer), n_positions=512, n_embd=32, n_layer=2, n_head=2, bos_token_id=2, eos_token_id=2,
        initializer_range=0.2,
    )).save_pretrained(folder)  # fmt: skip
    tokenizer.save_pretrained(folder)
    return str(folder)


@pytest.fixture(scope="module")
def totals(configs, gpt):
    """The accuracy of `build probe` by task, by the measure that harnesses know: the probability of the whole text."""
    model, totals = load_model(gpt), {}
    for name, data in configs.items():
        scores = surprisal.evaluate(data, model, silent).scores
        total = next(score for score in scores if score.method == "total")
        assert total.ties == 0, "harnesses choose the first of equals"
        totals[f"discoprobe_{name}"] = total.accuracy
    return totals


def same_surprisal(logs, lines, gpt):
    """Whether the log probabilities of the pairs in a file of BLiMP are minus the surprisal of their texts, in nats."""
    texts = [text for line in lines for text in (line["sentence_good"], line["sentence_bad"])]
    bits = np.array([each.bits.sum() for each in surprisals(load_model(gpt), texts, silent)])
    assert -np.array(logs).ravel() == pytest.approx(bits * math.log(2), rel=1e-6)


def test_lm_eval_gets_the_accuracy_of_build_probe(release, gpt, totals, tmp_path):
    """Also of groups: their accuracy is the mean over their configs."""
    export(release, tmp_path / "tasks", "lm-eval")
    groups = {
        "discoprobe": r".*", "discoprobe_lang_es": r".*_es", "discoprobe_lang_de": r".*_de",
        "discoprobe_cloze": r"discoprobe_cloze_..", "discoprobe_agreement_suite": r"discoprobe_agreement_suite_..",
    }  # fmt: skip
    accuracies, logs = run("lm_eval", LM_EVAL, tmp_path / "tasks", gpt, *groups)
    assert {name: accuracies[name] for name in totals} == pytest.approx(totals, abs=1e-6)
    for group, pattern in groups.items():
        members = [accuracy for name, accuracy in totals.items() if re.fullmatch(pattern, name)]
        assert accuracies[group] == pytest.approx(np.mean(members), abs=1e-6)
    for name in ("agreement_suite_es", "cloze_suite_es", "order_all_de"):
        same_surprisal(logs[f"discoprobe_{name}"], json_lines(tmp_path / "tasks" / f"{name}.jsonl"), gpt)


def json_lines(path):
    return [json.loads(line) for line in path.read_text(encoding="utf-8").splitlines()]


def test_lighteval_gets_the_accuracy_of_build_probe(release, gpt, totals, tmp_path):
    export(release, tmp_path / "tasks", "lighteval")
    accuracies, logs = run("lighteval", LIGHTEVAL, tmp_path / "tasks", gpt)
    assert accuracies == pytest.approx(totals, abs=1e-6)
    lines = json_lines(tmp_path / "tasks" / "agreement_suite_es" / "test.jsonl")
    pairs = [dict(zip(("sentence_good", "sentence_bad"), line["choices"], strict=True)) for line in lines]
    same_surprisal(logs["discoprobe_agreement_suite_es"], pairs, gpt)


def test_minicons_gets_the_surprisal_of_every_token(release, configs, gpt, tmp_path):
    """And with it the score of the region, which is the prediction of a suite."""
    data = configs["agreement_suite_es"]
    rows = data.split("test").sort("pair_id", "label")
    texts = [text for (text,) in rows["texts"]]
    (tmp_path / "texts.json").write_text(json.dumps(texts), encoding="utf-8")
    model = load_model(gpt)
    ours = surprisals(model, texts, silent)
    theirs = run("minicons", MINICONS, tmp_path, gpt)
    for one, other in zip(ours, theirs, strict=True):
        assert one.bits * math.log(2) == pytest.approx(np.array(other), rel=1e-6)
    spans = rows.select("edit_start", "edit_end").rows()
    regions = [sum(np.array(bits)[(each.starts < end) & (each.ends > start)])
               for bits, each, (start, end) in zip(theirs, ours, spans, strict=True)]  # fmt: skip
    best = surprisal.evaluate(data, model, silent).best
    assert best.method == "region"
    assert np.mean(np.array(regions[1::2]) > regions[::2]) == pytest.approx(best.accuracy, abs=1e-6)


def test_minicons_gets_the_pseudo_log_likelihood_of_every_token(wordpiece_bert, tmp_path):
    """With the rule within words, of words of one to four pieces."""
    texts = ["we walked .", "understandable we.", "walk", "unable un understand we walk"]
    (tmp_path / "texts.json").write_text(json.dumps(texts), encoding="utf-8")
    theirs = run("minicons", MINICONS_MASKED, tmp_path, wordpiece_bert)
    for one, other in zip(surprisals(load_model(wordpiece_bert), texts, silent), theirs, strict=True):
        assert one.bits * math.log(2) == pytest.approx(np.array(other), rel=1e-6, abs=1e-6)


def test_the_files_of_syntaxgym_give_the_accuracy_of_build_probe(release, configs, gpt, tmp_path):
    """By its rules: a region has the sum or the mean of its tokens, ``*`` is the sum of regions.

    That is the first prediction of a suite, and the last one of other pairs, whose whole texts are compared.
    """
    model = load_model(gpt)
    export(release, tmp_path / "suites", "syntaxgym")
    compared = {name: path for path in sorted((tmp_path / "suites").glob("*.json")) if (name := path.stem) in configs}
    assert {"agreement_suite_es", "antecedent_suite_en", "bigram_shift_es", "order_all_de"} <= compared.keys()
    metrics = {}
    for name, path in compared.items():
        suite, trees = syntaxgym_files.read(path)
        metrics[name] = suite["meta"]["metric"]
        conditions = [condition for item in suite["items"] for condition in item["conditions"]]
        parts = [[region["content"] for region in condition["regions"]] for condition in conditions]
        read = surprisals(model, [" ".join(filter(None, part)) for part in parts], silent)
        of_conditions = []
        for part, bits in zip(parts, read, strict=True):
            ends = np.cumsum([len(each) + bool(each) for each in part])
            of_regions = [bits.over(end - len(each) - 1, end - 1) for each, end in zip(part, ends, strict=True)]
            add = {"sum": np.sum, "mean": np.mean}[metrics[name]]
            of_conditions.append([float(add(each)) if len(each) else 0.0 for each in of_regions])
        n, right = len(suite["items"][0]["conditions"]), []
        for at in range(0, len(conditions), n):
            named = {each["condition_name"]: bits for each, bits in
                     zip(conditions[at : at + n], of_conditions[at : at + n], strict=True)}  # fmt: skip
            right.append(syntaxgym_files.value(trees[0 if configs[name].conditions else -1], named))
        best = surprisal.evaluate(configs[name], model, silent).best
        assert np.mean(right) == pytest.approx(best.accuracy, abs=1e-6), name
    assert (metrics["agreement_suite_es"], metrics["cloze_suite_es"], metrics["order_all_de"]) == ("sum", "mean", "sum")


def test_mteb_gets_the_score_of_the_sentence_vector(release, configs, gpt, tmp_path):
    """On probing and discourse configs: pairs of sentences, and choices."""
    pytest.importorskip("sentence_transformers", reason="sentence-transformers is not installed")
    (tmp_path / "release").symlink_to(release)
    modules = [("", "sentence_transformers.models.Transformer"), ("1_Pooling", "sentence_transformers.models.Pooling")]
    folder = tmp_path / "encoder"
    transformers.AutoModelForCausalLM.from_pretrained(gpt).save_pretrained(folder)
    transformers.AutoTokenizer.from_pretrained(gpt).save_pretrained(folder)
    (folder / "1_Pooling").mkdir()
    (folder / "modules.json").write_text(json.dumps(
        [{"idx": at, "name": str(at), "path": path, "type": kind} for at, (path, kind) in enumerate(modules)]
    ), encoding="utf-8")  # fmt: skip
    (folder / "1_Pooling" / "config.json").write_text(
        json.dumps({"word_embedding_dimension": 32, "pooling_mode_mean_tokens": True}), encoding="utf-8"
    )
    scores = run("mteb", MTEB, tmp_path, str(folder))
    names = [name for name, data in configs.items() if len(data.splits) == 3]
    assert {"bigram_shift_es", "cloze_es"} <= set(names)
    assert scores.keys() == set(names)
    model = load_model(str(folder))
    for name in names:
        own = next(score for score in probes.evaluate(configs[name], model, silent, controls=False).scores
                   if score.part == "sentence")  # fmt: skip
        assert scores[name]["accuracy"] == pytest.approx(own.accuracy, abs=1e-6)
        assert scores[name]["validation"] == pytest.approx(own.validation, abs=1e-6)


CHAT_SERVER = '''
import json
from http.server import BaseHTTPRequestHandler, HTTPServer


class Answers(BaseHTTPRequestHandler):
    """Chooses the first answer if the prompt has an even number of characters, and says so in a sentence."""

    def do_POST(self):
        asked = json.loads(self.rfile.read(int(self.headers["Content-Length"])))["messages"][-1]["content"]
        said = f"The answer is {1 + len(asked) % 2}." if len(asked) % 7 else "I cannot tell."
        body = json.dumps({"choices": [{"index": 0, "message": {"role": "assistant", "content": said}}]}).encode()
        self.send_response(200)
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, *_):
        pass


server = HTTPServer(("127.0.0.1", 0), Answers)
print(server.server_port, flush=True)
server.serve_forever()
'''


def lm_eval(folder, kind, tasks, **model_args):
    """Runs the command of lm-evaluation-harness on exported files, and reads what it says it found."""
    if importlib.util.find_spec("lm_eval") is None:
        pytest.skip("lm_eval is not installed (the extra 'harnesses')")
    chat = ["--apply_chat_template"] if "chat" in kind else []
    arguments = ",".join(f"{name}={value}" for name, value in model_args.items())
    done = subprocess.run(
        [sys.executable, "-m", "lm_eval", "run", "--model", kind, "--model_args", arguments, "--tasks", tasks,
         "--include_path", ".", "--output_path", "results", "--log_samples", "--device", "cpu", *chat],
        cwd=folder, capture_output=True, text=True, check=False,
        env=os.environ | {"OPENAI_API_KEY": "none", "HF_HUB_OFFLINE": "1", "HF_DATASETS_CACHE": str(folder / "cache")},
    )  # fmt: skip
    assert done.returncode == 0, done.stderr[-3000:]
    (path,) = (folder / "results").glob("*/results_*.json")
    return json.loads(path.read_text(encoding="utf-8"))["results"]


def test_results_of_lm_eval_are_scores_of_the_same_rows(release, totals, configs, gpt, tmp_path):
    """Its accuracies, row by row those of `build probe --surprisal` by ``total``, in one table with them."""
    export(release, tmp_path / "tasks", "lm-eval")
    found = lm_eval(
        tmp_path / "tasks", "hf", "discoprobe", pretrained=gpt, add_bos_token=True, logits_cache=False, dtype="float32"
    )
    scored = list(evaluations_of_harness(tmp_path / "tasks" / "results", release, tmp_path / "scores"))
    accuracies = {f"discoprobe_{each.config}": each.best.accuracy for each in scored}
    assert accuracies == pytest.approx(totals, abs=1e-6)
    assert accuracies == pytest.approx({name: found[name]["acc,none"] for name in totals}, abs=1e-6)
    assert {each.model for each in scored} == {f"{gpt} (lm-eval)"}
    for name in ("cloze_es", "bigram_shift_es"):
        (one,) = (each for each in scored if each.config == name)
        own = surprisal.evaluate(configs[name], load_model(gpt), silent)
        assert dict(zip(one.rows.ids, one.rows.correct, strict=True)) == dict(
            zip(own.rows.ids, own.rows.correct, strict=True)
        )
        assert (one.majority, *one.best.interval) == pytest.approx((own.majority, *own.scores[0].interval))


def test_answers_of_an_api_model_to_prompts_are_scores(release, configs, tmp_path):
    """Of rows with labels, choices and suites; an answer without a number is wrong, and the page has the prompt."""
    export(release, tmp_path / "tasks", "lm-eval-chat")
    with subprocess.Popen([sys.executable, "-c", CHAT_SERVER], stdout=subprocess.PIPE, text=True) as server:
        try:
            url = f"http://127.0.0.1:{int(server.stdout.readline())}/v1/chat/completions"
            found = lm_eval(
                tmp_path / "tasks", "local-chat-completions", "discoprobe_chat", model="org/some-api", base_url=url
            )
        finally:
            server.terminate()
    scored = {each.config: each for each in evaluations_of_harness(
        tmp_path / "tasks" / "results", release, tmp_path / "scores"
    )}  # fmt: skip
    assert scored.keys() == configs.keys()
    for name, each in scored.items():
        lines = json_lines(tmp_path / "tasks" / f"{name}.jsonl")
        chosen = [str(1 + len(line["prompt"]) % 2) if len(line["prompt"]) % 7 else "" for line in lines]
        right = [answer == line["answer"] for answer, line in zip(chosen, lines, strict=True)]
        assert each.best.accuracy == pytest.approx(np.mean(right), abs=1e-6)
        assert each.best.accuracy == pytest.approx(found[f"discoprobe_chat_{name}"]["exact_match,number"], abs=1e-6)
        assert each.model == "org/some-api (prompted)"
        assert each.best.n == len(lines)
    labelled, suite, choice = (scored[name] for name in ("bigram_shift_es", "agreement_suite_es", "cloze_es"))
    assert labelled.rows.ids == tuple(configs["bigram_shift_es"].split("test")["id"])
    assert sorted(suite.rows.ids) == sorted(surprisal_ids(configs["agreement_suite_es"]))
    assert (suite.majority, choice.majority) == (0.5, pytest.approx(0.5))
    page = write_comparison(tmp_path / "scores", "o/d").read_text(encoding="utf-8")
    assert "Reply with the number of the answer only." in page
    assert "org/some-api (prompted)" in page
    other = tmp_path / "other"
    shutil.copytree(release, other)
    rows = pl.read_parquet(path := next((other / "cloze_es").glob("test-*.parquet")))
    rows.head(rows.height // 2).write_parquet(path)
    misfits = [each for each in evaluations_of_harness(tmp_path / "tasks" / "results", other, tmp_path / "scores")
               if isinstance(each, tuple)]  # fmt: skip
    assert [(config, reason.endswith("are not in test of this release; export again")) for config, _, reason in misfits
            ] == [("cloze_es", True)]  # fmt: skip


def surprisal_ids(data):
    return tuple(data.split("test").filter(label=0)["pair_id"])
