"""Models of the transformers library, from a local folder or the Hub, and the scores of a model on a config.

`find_model` checks at once whether a model is there, fits into memory and can be used; nothing is loaded or downloaded
except its configuration. `load_model` gives a `LanguageModel`. `probes` and `surprisal` use it and return an
`Evaluation`, which has the scores with the baselines that they must be compared with, and can be saved.
"""

import difflib
import json
import os
import re
from collections.abc import Iterator, Sequence
from contextlib import suppress
from pathlib import Path
from typing import Any, Final, Literal

import huggingface_hub
import msgspec
import numpy as np
import numpy.typing as npt
import polars as pl

from discoprobe.builders.audit.frame import AuditInput
from discoprobe.builders.audit.intervals import DIGITS, Interval, exact, independent_rows
from discoprobe.loaders.errors import DiscoprobeError, RemoteError, UnknownNameError, first_line
from discoprobe.loaders.files import hash_of_json, hashes_of, write_atomically
from discoprobe.loaders.hashing import splitmix64

Floats = npt.NDArray[np.float32]

MOST_TOKENS: Final = 512
"""Largest number of tokens of a text, if neither the model nor its tokenizer has a maximum."""

Kind = Literal["encoder", "causal", "encoder-decoder"]


class ModelError(DiscoprobeError):
    """A model that cannot be loaded or used; the message says what to do."""


class FoundModel(msgspec.Struct, frozen=True):
    """A model that exists, not yet loaded.

    Attributes:
        name: the folder or the Hub id.
        kind: how it reads a text; a causal model reads each token with those before it.
        commit: the commit on the Hub, or the SHA-256 of the weights of a local folder.
        content: hash of everything that changes scores: weights, configuration, tokenizer.
        has_head: whether it predicts tokens from those before them.
        device: where torch computes, such as ``cpu`` or ``cuda``.
        config: its configuration.
        trust_remote_code: whether code of its repository may be run.
        is_sentence_transformer: whether it returns a vector per sentence.
    """

    name: str
    kind: Kind
    commit: str
    content: str
    has_head: bool
    device: str
    config: Any
    trust_remote_code: bool = False
    is_sentence_transformer: bool = False


class Tokens(msgspec.Struct, frozen=True):
    """The tokens of a text, as far as the model accepts: ids, which are special, and their characters, (tokens, 2)."""

    ids: list[int]
    special: npt.NDArray[np.bool_]
    offsets: npt.NDArray[np.int64]

    def of_target(self, unit: "Unit") -> npt.NDArray[np.bool_]:
        """Which tokens have characters of the target of a text."""
        return np.asarray((self.offsets[:, 0] < unit.end) & (self.offsets[:, 1] > unit.start) & ~self.special)


class Unit(msgspec.Struct, frozen=True):
    """A text, and the characters of its target word (0, 0 if it has none)."""

    text: str
    start: int = 0
    end: int = 0


class LanguageModel(msgspec.Struct, frozen=True):
    """A model with its tokenizer.

    Attributes:
        source: what it was loaded from.
        model: the transformers model, in evaluation mode, with weights in single precision.
        tokenizer: its tokenizer.
        longest: most tokens of a text; longer texts lose tokens on the left.
        batch_size: most texts in a batch.
        sentences: the sentence-transformer, if it is one and the library is installed.
        is_trained: False for `with_random_weights`.
    """

    source: FoundModel
    model: Any
    tokenizer: Any
    longest: int
    batch_size: int = 64
    sentences: Any = None
    is_trained: bool = True

    @property
    def name(self) -> str:
        """The folder or the Hub id."""
        return self.source.name

    @property
    def commit(self) -> str:
        """The commit on the Hub, or the SHA-256 of the weights."""
        return self.source.commit

    def tokens(self, units: Sequence[Unit]) -> list[Tokens]:
        """The tokens of each text with special ones; what does not fit is lost on the left, but never the target."""
        read = self.tokenizer(
            [unit.text for unit in units], truncation=False, verbose=False, return_special_tokens_mask=True,
            return_offsets_mapping=self.tokenizer.is_fast,
        )  # fmt: skip
        tokens: list[Tokens] = []
        for number, unit in enumerate(units):
            ids, special = list(read["input_ids"][number]), np.array(read["special_tokens_mask"][number], bool)
            spans = read["offset_mapping"][number] if self.tokenizer.is_fast else [(0, 0)] * len(ids)
            offsets = np.array(spans, np.int64).reshape(-1, 2)
            if not ids:  # an empty text, if the tokenizer adds no special tokens
                ids, special, offsets = [self.padding], np.ones(1, bool), np.zeros((1, 2), np.int64)
            if len(ids) > self.longest:
                body = np.flatnonzero(~special)
                first, after = int(body[0]), int(body[-1]) + 1
                room = self.longest - (len(ids) - (after - first))
                start = after - room
                if len(target := np.flatnonzero(Tokens(ids, special, offsets).of_target(unit))):
                    start = min(start, int(target[0]))
                chosen = [*range(first), *range(start, start + room), *range(after, len(ids))]
                ids, special, offsets = [ids[at] for at in chosen], special[chosen], offsets[chosen]
            tokens.append(Tokens(ids, special, offsets))
        return tokens

    @property
    def padding(self) -> int:
        """The id of the token that fills batches; it is masked, so any token does if the tokenizer has none."""
        return int(self.tokenizer.pad_token_id or 0)

    def read_language(self, lang: str) -> None:
        """Tells a tokenizer that marks the language of a text (M-BART) the code of a language."""
        codes = [each for each in self.tokenizer.all_special_tokens if each.partition("_")[0] == lang]
        if codes and hasattr(self.tokenizer, "src_lang"):
            self.tokenizer.src_lang = codes[0]

    def n_cut(self, units: Sequence[Unit]) -> int:
        """How many of the texts are longer than the model accepts."""
        read = self.tokenizer([unit.text for unit in units], truncation=False, verbose=False)["input_ids"]
        return sum(len(ids) > self.longest for ids in read)

    def with_random_weights(self) -> "LanguageModel":
        """The same architecture and tokenizer with weights as they are before training, always the same ones."""
        import torch

        with torch.random.fork_rng():
            torch.manual_seed(0)
            model = type(self.model)(self.model.config)
        return msgspec.structs.replace(
            self, model=model.float().to(self.source.device).eval(), sentences=None, is_trained=False
        )

    @property
    def identity(self) -> str:
        """Hash of everything on which the vectors of a text depend."""
        import torch
        import transformers

        language = getattr(self.tokenizer, "src_lang", None)
        how = [self.source.content, self.source.kind, self.longest, language, self.sentences is not None]
        return hash_of_json([FORMAT, *how, self.is_trained, torch.__version__, transformers.__version__])


def in_batches(lengths: Sequence[int], most: int, most_texts: int = 10**9) -> Iterator[list[int]]:
    """The indices of texts in batches of similar length, the shortest first.

    Args:
        lengths: number of tokens of each text.
        most: largest number of tokens in a batch, padding included; a longer text is a batch of its own.
        most_texts: largest number of texts in a batch.
    """
    batch: list[int] = []
    for number in sorted(range(len(lengths)), key=lambda at: (lengths[at], at)):
        if batch and (lengths[number] * (len(batch) + 1) > most or len(batch) == most_texts):
            yield batch
            batch = []
        batch.append(number)
    if batch:
        yield batch


def find_model(name: str, device: str = "auto", *, trust_remote_code: bool = False) -> FoundModel:
    """Finds a model, and checks that it can be used; takes no longer than a request to the Hub.

    Args:
        name: a local folder or a Hub id.
        device: where torch computes: ``cpu``, ``cuda``, ``mps``; ``auto`` is a GPU if there is one.
        trust_remote_code: whether code of the model's repository may be run.

    Raises:
        ModelError: transformers is not installed, there is no such model or device, the model needs code that is not
            trusted, or more memory than is free.
        RemoteError: the Hub does not answer.
    """
    folder = Path(name).expanduser()
    modules = folder / "modules.json"
    has_modules = modules.is_file() if folder.is_dir() else _has_modules_on_hub(name)
    body = _transformer_folder(modules) if modules.is_file() else folder
    if folder.is_dir() and not (body / "config.json").is_file():
        raise ModelError(f"{name}: the folder has no config.json, so it is no model of transformers")
    try:
        import torch
        import transformers
    except ModuleNotFoundError as error:
        raise ModelError(f"{error.name} is not installed: pip install torch transformers") from None
    transformers.utils.logging.set_verbosity_error()
    transformers.utils.logging.disable_progress_bar()
    available = {"cuda": torch.cuda.is_available(), "mps": torch.backends.mps.is_available(), "cpu": True}
    if device == "auto":
        device = next(each for each, is_there in available.items() if is_there)
    if not available.get(device.partition(":")[0], False):
        devices = ", ".join(each for each, is_there in available.items() if is_there)
        raise ModelError(f"--device {device}: torch finds no such device; it finds {devices}")
    files = sorted(path for path in folder.glob("**/*") if path.is_file()) if folder.is_dir() else []
    place = str(body) if folder.is_dir() else name
    try:
        config = transformers.AutoConfig.from_pretrained(place, trust_remote_code=trust_remote_code)
    except Exception as error:
        raise _not_loaded(name, error) from error
    weights = [path for path in files if path.suffix in {".safetensors", ".bin"}]
    commit = str(getattr(config, "_commit_hash", None) or "")
    content = commit
    if folder.is_dir():
        hashes = {str(path.relative_to(folder)): hashes_of(path, with_git=False).sha256 for path in files}
        of_weights = [hashes[str(path.relative_to(folder))] for path in weights]
        commit = of_weights[0] if len(of_weights) == 1 else hash_of_json(of_weights)
        content = hash_of_json(hashes)
    architectures = config.architectures or ()
    has_head = any("CausalLM" in each or "LMHead" in each for each in architectures)
    auto = transformers.models.auto.modeling_auto
    is_causal = has_head or (
        config.model_type in auto.MODEL_FOR_CAUSAL_LM_MAPPING_NAMES
        and config.model_type not in auto.MODEL_FOR_MASKED_LM_MAPPING_NAMES
    )
    kind: Kind = "encoder-decoder" if config.is_encoder_decoder else "causal" if is_causal else "encoder"
    model = FoundModel(
        name, kind, commit, content, has_head and kind == "causal", device, config, trust_remote_code, has_modules
    )
    needed, free = _memory(model)
    if free is not None and needed > free:
        gigabytes = f"{needed / 1e9:.1f} GB, and {free / 1e9:.1f} GB are free"
        raise ModelError(f"{name}: the weights need {gigabytes} on {device}; use another --device or a smaller model")
    return model


def _has_modules_on_hub(name: str) -> bool:
    """Whether a model of the Hub, or of its local cache, is a sentence-transformer; one request.

    Raises:
        UnknownNameError: there is no such model, or the name can only be that of a folder.
        RemoteError: the Hub does not answer, and the model was not downloaded before.
    """
    parent = Path(name).expanduser().parent
    near = [str(parent / path.parent.name) for path in parent.glob("*/config.json")]
    if not re.fullmatch(r"[\w-][\w.-]*(/[\w-][\w.-]*)?", name):
        raise UnknownNameError("model folder", name, near, remedy="(a model is a folder or an id of the Hub)")
    in_cache = huggingface_hub.try_to_load_from_cache
    if isinstance(in_cache(name, "config.json"), str):
        return isinstance(in_cache(name, "modules.json"), str)
    try:
        files = huggingface_hub.HfApi().model_info(name, timeout=10).siblings or ()
    except (huggingface_hub.errors.RepositoryNotFoundError, huggingface_hub.errors.HFValidationError):
        remedy = "(no folder, and no public model of the Hub, has this name)"
        raise UnknownNameError("model", name, near, remedy=remedy) from None
    except Exception as error:
        hint = difflib.get_close_matches(name, near, n=1, cutoff=0.5)
        meant = f"; did you mean {hint[0]}?" if hint else ""
        problem = f"no such folder{meant} and the Hub does not answer ({first_line(error)})"
        raise RemoteError(f"model {name}: {problem}") from error
    return "modules.json" in {file.rfilename for file in files}


def _transformer_folder(modules: Path) -> Path:
    """The folder of the transformer of a sentence-transformer, from its list of modules."""
    for module in json.loads(modules.read_text(encoding="utf-8")):
        if str(module.get("type", "")).endswith("Transformer"):
            return modules.parent / str(module.get("path", ""))
    return modules.parent


def _not_loaded(name: str, error: Exception) -> ModelError:
    """What a user reads if transformers cannot load a model."""
    reason = first_line(error)
    if "trust_remote_code" in str(error):
        reason = "it brings code of its own; if you trust it, give --trust-remote-code"
    return ModelError(f"{name}: cannot be loaded as a model of transformers: {reason}")


def _class_of(found: FoundModel) -> Any:
    """The class of transformers that loads a model: with the head that predicts tokens if it is causal."""
    import transformers

    return transformers.AutoModelForCausalLM if found.has_head else transformers.AutoModel


def _memory(found: FoundModel) -> tuple[int, int | None]:
    """Bytes that the weights need in single precision, and bytes that are free on the device (None if not known)."""
    import torch

    try:
        with torch.device("meta"):
            skeleton = _class_of(found).from_config(found.config, trust_remote_code=found.trust_remote_code)
    except Exception:  # noqa: BLE001 (code of others that cannot be built without memory; loading it will tell)
        return 0, None
    needed = 4 * sum(each.numel() for each in skeleton.parameters())
    if found.device.startswith("cuda"):
        return needed, int(torch.cuda.mem_get_info(found.device)[0])
    memory = Path("/proc/meminfo")
    if found.device == "cpu" and memory.is_file():
        kilobytes = re.search(r"MemAvailable:\s+(\d+) kB", memory.read_text(encoding="ascii"))
        return needed, int(kilobytes[1]) * 1024 if kilobytes else None
    return needed, None


def load_model(description: FoundModel | str, *, batch_size: int = 64) -> LanguageModel:
    """Loads a model that `find_model` found; a name is found on any device first.

    Raises:
        ModelError: it cannot be loaded.
    """
    import torch
    import transformers

    if isinstance(description, str):
        description = find_model(description)
    folder = Path(description.name).expanduser()
    modules = folder / "modules.json"
    place = str(_transformer_folder(modules)) if modules.is_file() else description.name
    sentences = None
    try:
        if description.is_sentence_transformer:
            with suppress(ModuleNotFoundError):
                import sentence_transformers  # noqa: PLC0415 (an extra of its own)

                sentences = sentence_transformers.SentenceTransformer(
                    description.name, device=description.device, trust_remote_code=description.trust_remote_code,
                    model_kwargs={"dtype": torch.float32},
                )  # fmt: skip
        tokenizer = transformers.AutoTokenizer.from_pretrained(place, trust_remote_code=description.trust_remote_code)
        model = _class_of(description).from_pretrained(
            place, dtype=torch.float32, trust_remote_code=description.trust_remote_code
        )  # fmt: skip
        model = model.to(description.device).eval()
    except torch.OutOfMemoryError as error:
        raise ModelError(
            f"{description.name}: the weights do not fit into the memory of {description.device}"
        ) from error
    except Exception as error:
        raise _not_loaded(description.name, error) from error
    return LanguageModel(description, model, tokenizer, _longest(model, tokenizer), batch_size, sentences)


def _longest(model: Any, tokenizer: Any) -> int:
    """Most tokens of a text. Models like RoBERTa count positions from behind the padding index."""
    stated = [tokenizer.model_max_length, getattr(model.config, "max_position_embeddings", None)]
    for name, module in model.named_modules():
        if name.endswith("position_embeddings") and getattr(module, "padding_idx", None) is not None:
            stated.append(module.num_embeddings - module.padding_idx - 1)
    longest = min((n for n in stated if isinstance(n, int) and 0 < n < 10**6), default=MOST_TOKENS)
    return longest - 1 if model.config.is_encoder_decoder else longest


def bound_threads(jobs: int) -> None:
    """Lets torch and the tokenizers use this number of threads; for the tokenizers only before their first use."""
    import torch

    torch.set_num_threads(jobs)
    os.environ.setdefault("RAYON_NUM_THREADS", str(jobs))


FORMAT: Final = 5
"""Raised when the same model and rows get other scores, or the saved files another form."""


class ModelScore(msgspec.Struct, frozen=True):
    """The accuracy of a model by one method.

    Attributes:
        method: the pooling of a probe (`probes.POOLINGS`); or how surprisal is added up (see `surprisal`).
        accuracy: share of test rows (for surprisal, of pairs or items) that are correct; a tie counts one half.
        interval: its 95 % confidence interval; rows of one group or pair are dependent.
        n: number of test rows, pairs or items.
        part: the part of the model that a probe reads (`probes.VectorPlace`); empty for surprisal.
        layer: the layer of a probe, 0 for the embeddings; None for surprisal.
        macro_f1: mean F1 over the classes; None for pairs and choices.
        validation: the accuracy on validation by which layer and pooling are chosen; None for surprisal.
        strength: the inverse regularisation that was chosen on validation; None for surprisal.
        pearson: correlation of predicted and true scores, of configs with scores.
        spearman: their rank correlation.
        ties: pairs whose texts have the same surprisal, or choices whose least surprisal is not unique.
        left_out: rows without a region, which this method cannot score.
        condition: the rows of which the score is; empty for all.
        bootstrap: the 95 % interval of a probe's accuracy by the bootstrap over groups of rows (Efron 1979), with the
            same samples for all layers.
    """

    method: str
    accuracy: float
    interval: Interval
    n: int
    part: str = ""
    layer: int | None = None
    macro_f1: float | None = None
    validation: float | None = None
    strength: float | None = None
    pearson: float | None = None
    spearman: float | None = None
    ties: int = 0
    left_out: int = 0
    condition: str = ""
    bootstrap: Interval | None = None

    @property
    def where(self) -> str:
        """Layer and pooling, or the measure of surprisal, in words."""
        if self.layer is None:
            return self.method
        if self.part == "sentence":
            return "sentence vector"
        return f"{'' if self.part == 'model' else f'{self.part} '}layer {self.layer}, {self.method}"


class RowScores(msgspec.Struct, frozen=True):
    """What a model got right, per row, pair or item of test, for comparisons over the same rows.

    Attributes:
        ids: ids of the rows, pairs or items.
        groups: rows with the same group are not independent; the id where there is none.
        correct: 1 if right, 0 if wrong, one half for a tie.
    """

    ids: tuple[str, ...]
    groups: tuple[str, ...]
    correct: tuple[float, ...]


class Controls(msgspec.Struct, frozen=True):
    """How much of an accuracy is due to the probe, to word order and to training; all at the place of the best score.

    Means over seeds, with their standard deviations.

    Attributes:
        seeds: number of seeds.
        control: accuracy on control labels, which depend on the target word, or on the texts of a row, by chance
            (Hewitt & Liang 2019).
        control_sd: its standard deviation.
        selectivity: accuracy minus ``control``.
        code_length: bits of the labels of train in the online code (Voita & Titov 2020).
        code_length_sd: its standard deviation, over orders of the rows.
        uniform_code_length: bits that they need if all labels are equally probable.
        compression: ``uniform_code_length / code_length``.
        mlp: accuracy of a perceptron with one hidden layer.
        mlp_sd: its standard deviation.
        curve: number of training rows, and accuracy of the linear probe that has learned that many; nested.
        shuffled_words: accuracy of the same probe on texts whose words are in another order.
        random_weights: accuracy of the same probe on the same model before training; None for sentence vectors.
    """

    seeds: int
    control: float
    control_sd: float
    selectivity: float
    code_length: float
    code_length_sd: float
    uniform_code_length: float
    compression: float
    mlp: float
    mlp_sd: float
    curve: tuple[tuple[int, float], ...]
    shuffled_words: float | None = None
    random_weights: float | None = None


class TopNeurons(msgspec.Struct, frozen=True):
    """The neurons of all layers from which a label can be read, found by an elastic net (Durrani et al. 2020).

    Attributes:
        n: number of neurons in all layers.
        accuracy: accuracy on test of the elastic net, which reads all of them.
        top: layer and number of each top neuron, the best first: the smallest set (of 1, 2, 4, …) whose probe is at
            most .01 less accurate on validation; empty if the best net has no weights, because it knows nothing.
        top_accuracy: accuracy on test of the probe that reads only these.
        by_layer: share of the top neurons that is in each layer.
    """

    n: int
    accuracy: float
    top: tuple[tuple[int, int], ...]
    top_accuracy: float
    by_layer: tuple[float, ...]


class Evaluation(msgspec.Struct, frozen=True):
    """The scores of one model on one config.

    Attributes:
        config: name of the config.
        model: folder or Hub id.
        commit: the commit of the model, or the hash of its weights (`FoundModel.commit`).
        scores: for every layer and pooling, or for every way to add up surprisal.
        best: the score to report: the best on validation, or the prediction of the suite.
        majority: accuracy of the majority baseline on test; for surprisal, that of random guessing.
        rows: what ``best`` got right.
        truncated: number of texts that lost tokens on the left, because they are longer than the model allows.
        train_rows: number of rows that the probe was trained on.
        controls: further figures at the place of ``best``; None for surprisal.
        neurons: the top neurons, if they were asked for; None for rows of several texts and for surprisal.
        conditions: the score to report for parts of a suite.
        shortcut: name of the strongest shortcut in the audit of the config; None if it is not known.
        shortcut_accuracy: accuracy of that shortcut.
        shortcut_rows: what that shortcut got right of ``rows``; None if it is not known, or not for items.
        readers: the share of people whose blind answer was right, of those of ``rows`` that were read.
        key: hash of the rows, the model and the options: with the same key the scores are the same.
        format: version of this form.
    """

    config: str
    model: str
    commit: str
    scores: tuple[ModelScore, ...]
    best: ModelScore
    majority: float
    rows: RowScores
    truncated: int = 0
    train_rows: int = 0
    controls: Controls | None = None
    neurons: TopNeurons | None = None
    conditions: tuple[ModelScore, ...] = ()
    shortcut: str | None = None
    shortcut_accuracy: float | None = None
    shortcut_rows: RowScores | None = None
    readers: RowScores | None = None
    key: str = ""
    format: int = FORMAT

    def to_json(self) -> str:
        """The evaluation as a JSON object, keys as the attributes."""
        return msgspec.json.format(msgspec.json.encode(self), indent=1).decode() + "\n"

    def save(self, folder: Path) -> Path:
        """Writes `path_of` below a folder; returns its path."""
        path = path_of(folder, self.config, self.model)
        write_atomically(path, self.to_json().encode())
        return path


def path_of(folder: Path, config: str, model: str) -> Path:
    """The file of the scores of a model on a config: ``CONFIG/OWNER_MODEL.json``."""
    owner_and_name = "_".join(Path(model).parts[-2:])
    plain = ("".join(letter if letter.isalnum() or letter in "-._" else "_" for letter in name).strip("._")
             for name in (config, owner_and_name))  # fmt: skip
    parent, name = plain
    return folder / parent / f"{name}.json"


def read_saved(path: Path) -> Evaluation | None:
    """The scores in a file; None if there are none, or those of another version."""
    try:
        evaluation = msgspec.json.decode(path.read_bytes(), type=Evaluation)
    except (OSError, msgspec.MsgspecError):
        return None
    return evaluation if evaluation.format == FORMAT else None


def score_of(method: str, correct: npt.NDArray[np.float64], rows: pl.DataFrame) -> ModelScore:
    """The accuracy of a method with its 95 % interval.

    Args:
        method: as in `ModelScore`.
        correct: 1 for each correct row, 0 for the others (0.5 for a tie), shape (rows,).
        rows: the rows, with ``pair_id`` and ``group``: rows with the same value are not independent.
    """
    columns = [column for column in ("pair_id", "group") if rows[column].null_count() == 0]
    clusterings = [rows[column].rank("dense").to_numpy().astype(np.int64) for column in columns]
    n = independent_rows(correct, clusterings or [np.arange(len(correct))])
    accuracy = float(correct.mean())
    return ModelScore(method, accuracy, exact(accuracy * n, n), len(correct))


BOOTSTRAPS: Final = 1000
"""Number of bootstrap samples."""


def bootstrap(correct: npt.NDArray[np.float64], rows: pl.DataFrame) -> Interval:
    """The 95 % interval of an accuracy: percentiles over samples of groups of rows, which hashes choose.

    Args:
        correct: 1 for each correct row, 0 for the others, shape (rows,).
        rows: the rows; rows with the same ``group`` (or ``pair_id``, if there is no group) are sampled together.
    """
    groups = rows.select(pl.coalesce("group", "pair_id", "id").rank("dense") - 1).to_series().to_numpy()
    right, size = np.bincount(groups, weights=correct), np.bincount(groups)
    accuracies = []
    for sample in range(BOOTSTRAPS):
        chosen = splitmix64(np.arange(len(size)) + sample * 2**32) % np.uint64(len(size))
        accuracies.append(right[chosen].sum() / size[chosen].sum())
    low, high = np.percentile(accuracies, [2.5, 97.5])
    return round(float(low), DIGITS), round(float(high), DIGITS)


def majority(data: AuditInput) -> float:
    """The accuracy on test of the class that is largest on train (on test, if there is no train split)."""
    test = data.split("test")
    source = data.split("train") if "train" in data.splits else test
    largest = source["label"].value_counts().sort(["count", "label"], descending=[True, False])["label"][0]
    return float((test["label"] == largest).mean() or 0.0)


def best_of(scores: Sequence[ModelScore]) -> ModelScore:
    """The score with the best accuracy on validation; among equal ones the first."""
    return max(scores, key=lambda score: score.validation or 0.0)
