"""Models of the transformers library, from a local folder or the Hub, and the vectors that they give texts.

`find_model` checks at once whether a model is there, fits into memory and can be used; nothing is loaded or downloaded
except its configuration. `load_model` gives it its weights. `vectors_of` reads texts with it, or finds their vectors in
the cache on disk: what a model has read once it does not read again, for whatever probe.

The cache has a folder per model (`LanguageModel.identity`), with a folder per write, which has the keys of its texts in
order and a file per place. A folder appears complete, by a rename. What cannot be written or read is computed. If there
is too much, what was used longest ago is deleted.
"""

import difflib
import json
import logging
import os
import re
import secrets
import shutil
from collections.abc import Iterator, Mapping, Sequence
from contextlib import suppress
from pathlib import Path
from typing import Any, Final, Literal

import huggingface_hub
import msgspec
import numpy as np
import numpy.typing as npt

from discoprobe.evaluation.scores import FORMAT, full_name
from discoprobe.loaders import hashing
from discoprobe.loaders.errors import DiscoprobeError, RemoteError, UnknownNameError, first_line
from discoprobe.loaders.files import cache_folder, hash_of_json, hashes_of
from discoprobe.loaders.process_pool import Progress

Floats = npt.NDArray[np.float32]
Bools = npt.NDArray[np.bool_]
Unit = tuple[str, int, int]
"""A text, and the start and end of its target word in it (0, 0 if it has none)."""
Tokens = tuple[list[int], Bools, Bools]
"""The tokens of a text, as far as the model accepts: ids, which are special, which have characters of the target."""
Place = tuple[str, int, str]
"""Where in a model the vector of a text is taken from: part, layer, pooling.

The part is ``encoder`` or ``decoder`` of an encoder-decoder, ``sentence`` for the vector that a sentence-transformer
returns, else ``model``; layer 0 has the embeddings; the pooling is one of ``POOLINGS``, or ``own`` for the sentence
vector.
"""

MOST_TOKENS: Final = 512
"""Largest number of tokens of a text, if neither the model nor its tokenizer has a maximum."""

TOKENS_PER_BATCH: Final = 8192
"""Largest number of tokens in a batch, padding included."""

POOLINGS: Final = ("mean", "first", "last", "target")
"""How the tokens of a text become one vector: the ``mean`` of those that are not special; the ``first`` (``[CLS]`` of
BERT); the ``last`` (in a causal model the only one that has seen the whole text); the mean over those of the ``target``
word, for tasks that ask about a word."""

_log = logging.getLogger(__name__)

Kind = Literal["encoder", "causal", "encoder-decoder"]


class LanguageModel(msgspec.Struct, frozen=True):
    """A model: what `find_model` knows of it, and what `load_model` adds.

    Attributes:
        name: the folder (`scores.full_name`) or the Hub id.
        kind: how it reads a text; a causal model reads each token with those before it.
        commit: the commit on the Hub, or the SHA-256 of the weights of a local folder.
        content: hash of everything that changes scores: weights, configuration, tokenizer.
        has_head: whether it predicts tokens from those before them.
        device: where torch computes, such as ``cpu`` or ``cuda``.
        config: its configuration.
        trust_remote_code: whether code of its repository may be run.
        is_sentence_transformer: whether it returns a vector per sentence.
        model: the transformers model, in evaluation mode, with weights in single precision; None until it is loaded.
        tokenizer: its tokenizer; None until it is loaded.
        longest: most tokens of a text; longer texts lose tokens on the left.
        batch_size: most texts in a batch.
        sentences: the sentence-transformer, if it is one and the library is installed.
        random_seed: the seed of `with_random_weights`; None for the weights of its files.
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
    model: Any = None
    tokenizer: Any = None
    longest: int = MOST_TOKENS
    batch_size: int = 64
    sentences: Any = None
    random_seed: int | None = None

    def tokens(self, units: Sequence[Unit]) -> list[Tokens]:
        """The tokens of each text with special ones; what does not fit is lost on the left, but never the target."""
        read = self.tokenizer(
            [text for text, *_ in units], truncation=False, verbose=False, return_special_tokens_mask=True,
            return_offsets_mapping=self.tokenizer.is_fast,
        )  # fmt: skip
        tokens: list[Tokens] = []
        for number, (_, start, end) in enumerate(units):
            ids, special = list(read["input_ids"][number]), np.array(read["special_tokens_mask"][number], bool)
            spans = read["offset_mapping"][number] if self.tokenizer.is_fast else [(0, 0)] * len(ids)
            if not ids:  # an empty text, if the tokenizer adds no special tokens
                ids, special, spans = [self.padding], np.ones(1, bool), [(0, 0)]
            of_token = np.array(spans, np.int64)
            in_target = np.asarray((of_token[:, 0] < end) & (of_token[:, 1] > start) & ~special)
            if len(ids) > self.longest:
                body = np.flatnonzero(~special)
                first, after = int(body[0]), int(body[-1]) + 1
                room = self.longest - (len(ids) - (after - first))
                begin = min([after - room, *np.flatnonzero(in_target)[:1].tolist()])
                chosen = [*range(first), *range(begin, begin + room), *range(after, len(ids))]
                ids, special, in_target = [ids[at] for at in chosen], special[chosen], in_target[chosen]
            tokens.append((ids, special, in_target))
        return tokens

    @property
    def padding(self) -> int:
        """The id of the token that fills batches; it is masked, so any token does if the tokenizer has none."""
        return int(self.tokenizer.pad_token_id or 0)

    def with_random_weights(self, seed: int) -> "LanguageModel":
        """The same architecture and tokenizer with weights as they are before training; a seed has always the same."""
        import torch

        with torch.random.fork_rng():
            torch.manual_seed(seed)
            model = type(self.model)(self.model.config)
        return msgspec.structs.replace(
            self, model=model.float().to(self.device).eval(), sentences=None, random_seed=seed
        )

    @property
    def identity(self) -> str:
        """Hash of everything on which the vectors of a text depend."""
        import torch
        import transformers

        language = getattr(self.tokenizer, "src_lang", None)
        how = [self.content, self.kind, self.longest, language, self.sentences is not None]
        return hash_of_json([FORMAT, *how, self.random_seed, torch.__version__, transformers.__version__])


def find_model(name: str, device: str = "auto", *, trust_remote_code: bool = False) -> LanguageModel:
    """Finds a model, and checks that it can be used; takes no longer than a request to the Hub.

    Args:
        name: a local folder or a Hub id.
        device: where torch computes: ``cpu``, ``cuda``, ``mps``; ``auto`` is a GPU if there is one.
        trust_remote_code: whether code of the model's repository may be run.

    Raises:
        DiscoprobeError: transformers is not installed, there is no such model or device, the model needs code that is
            not trusted, or more memory than is free.
        RemoteError: the Hub does not answer.
    """
    folder = Path(name).expanduser()
    modules = folder / "modules.json"
    has_modules = modules.is_file() if folder.is_dir() else _has_modules_on_hub(name)
    body = _transformer_folder(modules) if modules.is_file() else folder
    if folder.is_dir() and not (body / "config.json").is_file():
        raise DiscoprobeError(f"{name}: the folder has no config.json, so it is no model of transformers")
    try:
        import torch
        import transformers
    except ModuleNotFoundError as error:
        raise DiscoprobeError(f"{error.name} is not installed: pip install torch transformers") from None
    transformers.utils.logging.set_verbosity_error()
    transformers.utils.logging.disable_progress_bar()
    available = {"cuda": torch.cuda.is_available(), "mps": torch.backends.mps.is_available(), "cpu": True}
    if device == "auto":
        device = next(each for each, is_there in available.items() if is_there)
    if not available.get(device.partition(":")[0], False):
        devices = ", ".join(each for each, is_there in available.items() if is_there)
        raise DiscoprobeError(f"--device {device}: torch finds no such device; it finds {devices}")
    name = full_name(name)
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
    model = LanguageModel(
        name, kind, commit, content, has_head and kind == "causal", device, config, trust_remote_code, has_modules
    )
    needed, free = _memory(model)
    if free is not None and needed > free:
        gigabytes = f"{needed / 1e9:.1f} GB, and {free / 1e9:.1f} GB are free"
        raise DiscoprobeError(
            f"{name}: the weights need {gigabytes} on {device}; use another --device or a smaller model"
        )
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


def _not_loaded(name: str, error: Exception) -> DiscoprobeError:
    """What a user reads if transformers cannot load a model."""
    reason = first_line(error)
    if "trust_remote_code" in str(error):
        reason = "it brings code of its own; if you trust it, give --trust-remote-code"
    return DiscoprobeError(f"{name}: cannot be loaded as a model of transformers: {reason}")


def _class_of(found: LanguageModel) -> Any:
    """The class of transformers that loads a model: with the head that predicts tokens if it is causal."""
    import transformers

    return transformers.AutoModelForCausalLM if found.has_head else transformers.AutoModel


def _memory(found: LanguageModel) -> tuple[int, int | None]:
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


def load_model(found: LanguageModel | str, *, batch_size: int = 64) -> LanguageModel:
    """Loads a model that `find_model` found; a name is found on any device first.

    Raises:
        DiscoprobeError: it cannot be loaded.
    """
    import torch
    import transformers

    if isinstance(found, str):
        found = find_model(found)
    folder = Path(found.name).expanduser()
    modules = folder / "modules.json"
    place = str(_transformer_folder(modules)) if modules.is_file() else found.name
    sentences = None
    try:
        if found.is_sentence_transformer:
            with suppress(ModuleNotFoundError):
                import sentence_transformers  # noqa: PLC0415 (an extra of its own)

                sentences = sentence_transformers.SentenceTransformer(
                    found.name, device=found.device, trust_remote_code=found.trust_remote_code,
                    model_kwargs={"dtype": torch.float32},
                )  # fmt: skip
        tokenizer = transformers.AutoTokenizer.from_pretrained(place, trust_remote_code=found.trust_remote_code)
        model = _class_of(found).from_pretrained(
            place, dtype=torch.float32, trust_remote_code=found.trust_remote_code
        )  # fmt: skip
        model = model.to(found.device).eval()
    except torch.OutOfMemoryError as error:
        raise DiscoprobeError(f"{found.name}: the weights do not fit into the memory of {found.device}") from error
    except Exception as error:
        raise _not_loaded(found.name, error) from error
    return msgspec.structs.replace(
        found, model=model, tokenizer=tokenizer, longest=_longest(model, tokenizer), batch_size=batch_size,
        sentences=sentences,
    )  # fmt: skip


def _longest(model: Any, tokenizer: Any) -> int:
    """Most tokens of a text. Models like RoBERTa count positions from behind the padding index."""
    stated = [tokenizer.model_max_length, getattr(model.config, "max_position_embeddings", None)]
    for name, module in model.named_modules():
        if name.endswith("position_embeddings") and getattr(module, "padding_idx", None) is not None:
            stated.append(module.num_embeddings - module.padding_idx - 1)
    longest = min((n for n in stated if isinstance(n, int) and 0 < n < 10**6), default=MOST_TOKENS)
    return longest - 1 if model.config.is_encoder_decoder else longest


def vectors_of(
    model: LanguageModel, units: Sequence[Unit], progress: Progress, *, only: Place | None = None, cache: int = 0
) -> dict[Place, Floats]:
    """The vectors of texts at every place of a model, in single precision, shape (texts, dimensions).

    The decoder of an encoder-decoder reads the same text as its encoder, after its start token (as in BART, Lewis et
    al. 2020). Places with the pooling ``target`` are there only if every text has a target.

    Args:
        model: the model.
        units: the texts, all different.
        progress: called with the number of encoded texts.
        only: compute the vectors of this place only.
        cache: most bytes of the cache on disk; texts that are there are not read by the model, and the others are
            added. 0 for no cache.

    Raises:
        DiscoprobeError: a single text does not fit into memory.
    """
    has_target = model.tokenizer.is_fast and all(end > start for _, start, end in units)
    possible = POOLINGS if has_target else POOLINGS[:-1]
    poolings = [pooling for pooling in possible if only is None or pooling == only[2]]
    if not cache:
        return _encoded(model, units, poolings, only, progress)
    vectors, is_known = _read_kept(model, units, poolings, only)
    if not is_known.all():
        missing = np.flatnonzero(~is_known)
        added = [unit for unit, known in zip(units, is_known, strict=True) if not known]
        encoded = _encoded(model, added, poolings, only, progress)
        _keep(model, added, encoded, only, cache)
        for place, values in encoded.items():
            vectors.setdefault(place, np.empty((len(units), values.shape[1]), np.float32))[missing] = values
    progress("encoding", len(units), len(units))
    return vectors


def _encoded(
    model: LanguageModel, units: Sequence[Unit], poolings: Sequence[str], only: Place | None, progress: Progress
) -> dict[Place, Floats]:
    """The vectors of texts, read by the model."""
    import torch

    vectors: dict[Place, Floats] = {}
    tokens = model.tokens(units)
    done = 0
    waiting = [*in_batches([len(ids) for ids, *_ in tokens], TOKENS_PER_BATCH, model.batch_size)]
    if only is not None and only[0] == "sentence":
        waiting = []
    with torch.inference_mode():
        while waiting:
            numbers = waiting.pop(0)
            batch = [tokens[number] for number in numbers]
            weights = np.zeros((len(batch), len(poolings), max(len(ids) for ids, *_ in batch)), np.float32)
            for line, (ids, special, in_target) in enumerate(batch):
                for at, pooling in enumerate(poolings):
                    weights[line, at, : len(ids)] = _weights(pooling, special, in_target)
            try:
                pooled = _pooled(model, [ids for ids, *_ in batch], weights)
            except torch.OutOfMemoryError as error:
                if len(numbers) == 1:
                    problem = f"one text does not fit into the memory of {model.device}"
                    raise DiscoprobeError(f"{model.name}: {problem}") from error
                waiting = [numbers[: len(numbers) // 2], numbers[len(numbers) // 2 :], *waiting]
                continue
            for part, states in pooled.items():
                for layer in range(states.shape[1]):
                    for at, pooling in enumerate(poolings):
                        place = (part, layer, pooling)
                        if only in {None, place}:
                            if place not in vectors:
                                vectors[place] = np.empty((len(units), states.shape[-1]), np.float32)
                            vectors[place][numbers] = states[:, layer, at]
            done += len(numbers)
            progress("encoding", done, len(units))
    if model.sentences is not None and (only is None or only[0] == "sentence"):
        texts = [text for text, *_ in units]
        encoded = model.sentences.encode(texts, batch_size=model.batch_size, show_progress_bar=False)
        vectors["sentence", 0, "own"] = np.asarray(encoded, np.float32)
    return vectors


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


def _weights(pooling: str, special: Bools, in_target: Bools) -> Floats:
    """The weight of each token in the vector of the text; they sum to one."""
    chosen = np.zeros(len(special), np.float32)
    if pooling == "first":
        chosen[0] = 1
    elif pooling == "last":
        chosen[-1] = 1
    elif pooling == "target" and in_target.any():
        chosen[in_target] = 1
    else:
        chosen[~special | special.all()] = 1
    return np.asarray(chosen / chosen.sum(), np.float32)


def _pooled(model: LanguageModel, batch: Sequence[list[int]], weights: Floats) -> dict[str, Floats]:
    """Part of the model → vectors of a batch of texts, shape (texts, layers, poolings, dimensions)."""
    import torch

    device = model.model.device
    ids = torch.full((len(batch), weights.shape[2]), model.padding, dtype=torch.long)
    mask = torch.zeros_like(ids)
    for line, of_text in enumerate(batch):
        ids[line, : len(of_text)] = torch.tensor(of_text)
        mask[line, : len(of_text)] = 1
    ids, mask, of_token = ids.to(device), mask.to(device), torch.from_numpy(weights).to(device)
    if model.kind == "encoder-decoder":
        first = (getattr(model.model.config, f"{name}_token_id", None) for name in ("decoder_start", "bos", "pad"))
        start = torch.full_like(ids[:, :1], next((number for number in first if number is not None), 0))
        output = model.model(
            input_ids=ids, attention_mask=mask, decoder_input_ids=torch.cat([start, ids], dim=1),
            decoder_attention_mask=torch.cat([torch.ones_like(start), mask], dim=1), output_hidden_states=True,
            use_cache=False,
        )  # fmt: skip
        after_start = torch.nn.functional.pad(of_token, (1, 0))
        parts = {
            "encoder": (output.encoder_hidden_states, of_token),
            "decoder": (output.decoder_hidden_states, after_start),
        }
    else:
        body = model.model.base_model
        arguments = {"use_cache": False} if model.kind == "causal" else {}
        output = body(input_ids=ids, attention_mask=mask, output_hidden_states=True, **arguments)
        parts = {"model": (output.hidden_states, of_token)}
    return {
        part: torch.stack([torch.bmm(weight, layer.float()) for layer in states], dim=1).cpu().numpy()
        for part, (states, weight) in parts.items()
    }


def _read_kept(
    model: LanguageModel, units: Sequence[Unit], poolings: Sequence[str], only: Place | None
) -> tuple[dict[Place, Floats], Bools]:
    """The vectors of those texts that the cache has, shape (texts, dimensions), and which texts these are."""
    keys, is_known = keys_of(units), np.zeros(len(units), bool)
    vectors: dict[Place, Floats] = {}
    for folder in sorted((_kept_vectors() / model.identity).glob("[!.]*")):
        try:
            stored = np.load(folder / "keys.npy")
            at = np.minimum(np.searchsorted(stored, keys), len(stored) - 1)
            is_new = (stored[at] == keys) & ~is_known
            files = {(part, int(layer), pooling): path for path in sorted(folder.glob("* * *.npy"))
                     for part, layer, pooling in [path.stem.split()]}  # fmt: skip
            is_whole = folder.name.startswith("all")
            wanted = [only] if only in files else []
            if only is None and is_whole and {pooling for _, _, pooling in files} >= set(poolings):
                wanted = [place for place in files if place[2] in {*poolings, "own"}]
            if not wanted or not is_new.any():
                continue
            for place in wanted:
                values = np.load(files[place], mmap_mode="r")
                vectors.setdefault(place, np.empty((len(units), values.shape[1]), np.float32))[is_new] = values[
                    at[is_new]
                ]
            is_known |= is_new
            os.utime(folder)
        except (OSError, ValueError, IndexError):  # damaged, or deleted by another process
            shutil.rmtree(folder, ignore_errors=True)
    return vectors, is_known


def _keep(
    model: LanguageModel, units: Sequence[Unit], vectors: Mapping[Place, Floats], only: Place | None, limit: int
) -> None:
    """Adds the vectors of texts to the cache, and deletes others if there are too many."""
    keys, cache = keys_of(units), _kept_vectors()
    order = np.argsort(keys)
    size = keys.nbytes + sum(values.nbytes for values in vectors.values())
    if size > limit or not vectors:
        return
    token = f"{'all' if only is None else 'one'}-{secrets.token_hex(8)}"
    new = cache / model.identity / f".{token}"
    try:
        new.mkdir(parents=True)
        in_use = {
            folder: sum(path.stat().st_size for path in folder.iterdir())
            for folder in cache.glob("*/*")
            if folder != new
        }
        for folder in sorted(in_use, key=lambda folder: folder.stat().st_mtime):
            if sum(in_use.values()) + size <= limit:
                break
            shutil.rmtree(folder, ignore_errors=True)
            del in_use[folder]
        np.save(new / "keys.npy", keys[order])
        for place, values in vectors.items():
            np.save(new / f"{' '.join(map(str, place))}.npy", values[order])
        new.rename(new.with_name(token))
    except OSError as error:
        _log.warning("vectors are not kept in %s: %s", cache, error.strerror)
        shutil.rmtree(new, ignore_errors=True)


def _kept_vectors() -> Path:
    return cache_folder() / "vectors"


def keys_of(units: Sequence[Unit]) -> npt.NDArray[np.uint64]:
    """The key of each text and its target."""
    texts, starts, ends = zip(*units, strict=True)
    return hashing.record_keys(texts, map(str, starts), map(str, ends)).to_numpy()
