"""Models of the transformers library, from a local folder or the Hub, and the vectors that they give texts.

`find_model` checks at once whether a model is there, fits into memory and can be used; nothing is loaded or downloaded
except its configuration. `load_model` gives it its weights. `vectors_of` reads texts with it, or finds their vectors in
the cache on disk: what a model has read once it does not read again, for whatever probe.

The cache has a folder per model (`LanguageModel.identity`) and choice of places, with a folder per write, which has the
keys of its texts and a file per place. A folder appears complete, by a rename. What cannot be read is computed. If
there is too much, what was used longest ago is deleted.
"""

import difflib
import json
import os
import re
import secrets
import shutil
import tempfile
import weakref
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
from discoprobe.loaders.errors import DiscoprobeError, RemoteError, UnknownNameError, UsageError, first_line
from discoprobe.loaders.files import cache_folder, hash_of_json, hashes_of
from discoprobe.loaders.process_pool import Progress

Floats = npt.NDArray[np.float32]
Bools = npt.NDArray[np.bool_]
Ints = npt.NDArray[np.int64]
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

PRECISIONS: Final = ("float32", "bfloat16", "float16")
"""What weights may have; vectors are computed from layers in single precision and kept in half."""

Kind = Literal["encoder", "causal", "encoder-decoder"]


class LanguageModel(msgspec.Struct, frozen=True):
    """A model: what `find_model` knows of it, and what `load_model` adds.

    Attributes:
        name: the folder (`scores.full_name`) or the Hub id.
        kind: how it reads a text; a causal model reads each token with those before it.
        commit: the commit on the Hub, or the SHA-256 of the weights of a local folder.
        content: hash of everything that changes scores: weights, configuration, tokenizer.
        has_head: whether it gives texts a probability: it predicts tokens from those before them, or masked tokens.
        device: where torch computes, such as ``cpu`` or ``cuda``.
        config: its configuration.
        trust_remote_code: whether code of its repository may be run.
        dtype: the precision of its weights, a name of torch such as ``float32``.
        is_sentence_transformer: whether it returns a vector per sentence.
        model: the transformers model, in evaluation mode; None until it is loaded.
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
    dtype: str = "float32"
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

        usual = torch.get_default_dtype()
        try:
            torch.set_default_dtype(getattr(torch, self.dtype))  # weights of single precision need twice the memory
            with torch.random.fork_rng():
                torch.manual_seed(seed)
                model = type(self.model)(self.model.config)
        finally:
            torch.set_default_dtype(usual)
        model = model.to(self.device, getattr(torch, self.dtype)).eval()
        return msgspec.structs.replace(self, model=model, sentences=None, random_seed=seed)

    @property
    def identity(self) -> str:
        """Hash of everything on which the vectors of a text depend."""
        import torch
        import transformers

        language = getattr(self.tokenizer, "src_lang", None)
        how = [self.content, self.kind, self.longest, language, self.sentences is not None, self.dtype]
        return hash_of_json([FORMAT, *how, self.random_seed, torch.__version__, transformers.__version__])


def find_model(
    name: str, device: str = "auto", *, trust_remote_code: bool = False, dtype: str = "float32"
) -> LanguageModel:  # fmt: skip
    """Finds a model, and checks that it can be used; takes no longer than a request to the Hub.

    Args:
        name: a local folder or a Hub id.
        device: where torch computes: ``cpu``, ``cuda``, ``mps``; ``auto`` is a GPU if there is one.
        trust_remote_code: whether code of the model's repository may be run.
        dtype: the precision of the weights: ``float32``, ``bfloat16`` or ``float16``.

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
    if dtype not in PRECISIONS:
        raise UsageError(f"--dtype {dtype}: give one of {', '.join(PRECISIONS)}")
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
    is_masked = any("MaskedLM" in each for each in architectures)
    has_head = any("CausalLM" in each or "LMHead" in each for each in architectures) and not is_masked
    auto = transformers.models.auto.modeling_auto
    is_causal = has_head or (
        config.model_type in auto.MODEL_FOR_CAUSAL_LM_MAPPING_NAMES
        and config.model_type not in auto.MODEL_FOR_MASKED_LM_MAPPING_NAMES
    )
    kind: Kind = "encoder-decoder" if config.is_encoder_decoder else "causal" if is_causal else "encoder"
    gives_probability = is_masked if kind == "encoder" else has_head and kind == "causal"
    model = LanguageModel(
        name, kind, commit, content, gives_probability, device, config, trust_remote_code, dtype, has_modules
    )
    needed, free = _memory(model)
    if free is not None and needed > free:
        gigabytes = f"{needed / 1e9:.1f} GB, and {free / 1e9:.1f} GB are free"
        raise DiscoprobeError(
            f"{name}: the weights need {gigabytes} on {device}; use --dtype bfloat16 or another --device"
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
    """The class of transformers that loads a model: with the head that predicts tokens, if there is one."""
    import transformers

    if not found.has_head:
        return transformers.AutoModel
    return transformers.AutoModelForCausalLM if found.kind == "causal" else transformers.AutoModelForMaskedLM


def _memory(found: LanguageModel) -> tuple[int, int | None]:
    """Bytes that the weights need, and bytes that are free on the device (None if not known)."""
    import torch

    try:
        with torch.device("meta"):
            skeleton = _class_of(found).from_config(found.config, trust_remote_code=found.trust_remote_code)
    except Exception:  # noqa: BLE001 (code of others that cannot be built without memory; loading it will tell)
        return 0, None
    needed = getattr(torch, found.dtype).itemsize * sum(each.numel() for each in skeleton.parameters())
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
                    model_kwargs={"dtype": getattr(torch, found.dtype)},
                )  # fmt: skip
        tokenizer = transformers.AutoTokenizer.from_pretrained(place, trust_remote_code=found.trust_remote_code)
        model = _class_of(found).from_pretrained(
            place, dtype=getattr(torch, found.dtype), trust_remote_code=found.trust_remote_code
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


class Vectors(Mapping[Place, Floats]):
    """The vectors of texts at places of a model, shape (texts, dimensions): on disk, each place read when asked for.

    A process that gets them as an argument opens the files again.
    """

    def __init__(self, n_texts: int, parts: Sequence[tuple[Mapping[Place, Path], Ints, Ints]]) -> None:
        """Opens the files.

        Args:
            n_texts: number of texts.
            parts: the file of each place, the texts whose vectors it has, and where these are in it.

        Raises:
            OSError: a file is missing.
            ValueError: a file is damaged.
        """
        self._n_texts, self._parts = n_texts, parts
        self._opened = [{place: np.load(path, mmap_mode="r") for place, path in files.items()} for files, *_ in parts]

    def __reduce__(self) -> tuple[type["Vectors"], tuple[object, ...]]:
        return Vectors, (self._n_texts, self._parts)

    def __getitem__(self, place: Place) -> Floats:
        """The vectors at a place, in single precision."""
        values = np.empty((self._n_texts, self._opened[0][place].shape[1]), np.float32)
        for files, (_, texts, lines) in zip(self._opened, self._parts, strict=True):
            values[texts] = files[place][lines]
        return values

    def __iter__(self) -> Iterator[Place]:
        return iter(self._opened[0])

    def __len__(self) -> int:
        return len(self._opened[0])


def vectors_of(  # noqa: PLR0913 (three choose what is read)
    model: LanguageModel, units: Sequence[Unit], progress: Progress, *, only: Place | None = None,
    layers: Sequence[int] = (), cache: int = 0,
) -> Vectors:  # fmt: skip
    """The vectors of texts at every place of a model.

    The decoder of an encoder-decoder reads the same text as its encoder, after its start token (as in BART, Lewis et
    al. 2020). Places with the pooling ``target`` are there only if every text has a target. Vectors are written to disk
    batch by batch in half precision, so that memory holds a batch, and then the place that is asked for.

    Args:
        model: the model.
        units: the texts, all different.
        progress: called with the number of encoded texts.
        only: compute the vectors of this place only.
        layers: the layers that are wanted; empty for all.
        cache: most bytes of the cache; texts that are there are not read by the model, and the others are added. 0 for
            no cache: the files are deleted with the vectors.

    Raises:
        DiscoprobeError: a single text does not fit into memory, the disk is full, or the model has no such layer.
    """
    has_target = model.tokenizer.is_fast and all(end > start for _, start, end in units)
    possible = POOLINGS if has_target else POOLINGS[:-1]
    wanted = _Wanted(
        tuple(pooling for pooling in possible if only is None or pooling == only[2]), frozenset(layers), only
    )
    kept_in = cache_folder() / "vectors" / hash_of_json([model.identity, possible, sorted(layers), only])
    parts, is_known = _read_kept(kept_in, units) if cache else ([], np.zeros(len(units), bool))
    if is_known.all():
        progress("encoding", len(units), len(units))
        return Vectors(len(units), parts)
    missing = np.flatnonzero(~is_known)
    added = [units[number] for number in missing.tolist()]
    folder = kept_in / f".{secrets.token_hex(8)}" if cache else Path(tempfile.mkdtemp(prefix="discoprobe-"))
    try:
        folder.mkdir(parents=True, exist_ok=True)
        files = _encode(model, added, wanted, folder, progress)
        np.save(folder / "keys.npy", keys_of(added))
        kept = _keep(folder, cache) if cache else folder
        files = {place: kept / path.name for place, path in files.items()}
        vectors = Vectors(len(units), [*parts, (files, missing, np.arange(len(missing)))])
    except OSError as error:
        shutil.rmtree(folder, ignore_errors=True)
        problem = f"the vectors cannot be written to {folder.parent}: {error.strerror}"
        raise DiscoprobeError(f"{problem}; DISCOPROBE_CACHE names another folder, --layers chooses layers") from error
    except BaseException:
        shutil.rmtree(folder, ignore_errors=True)
        raise
    if kept == folder:
        weakref.finalize(vectors, shutil.rmtree, folder, ignore_errors=True)
    return vectors


class _Wanted(msgspec.Struct, frozen=True):
    """The places that are asked for: poolings, layers (empty for all), and the only place, if it is one."""

    poolings: tuple[str, ...]
    layers: frozenset[int]
    only: Place | None

    def has(self, place: Place) -> bool:
        """Whether a place is asked for."""
        part, layer, pooling = place
        if self.only is not None:
            return place == self.only
        return part == "sentence" or (pooling in self.poolings and (not self.layers or layer in self.layers))


def _encode(
    model: LanguageModel, units: Sequence[Unit], wanted: _Wanted, folder: Path, progress: Progress
) -> dict[Place, Path]:
    """Lets a model read texts, and writes their vectors to a file per place."""
    import torch

    files: dict[Place, Any] = {}

    def write(place: Place, numbers: Sequence[int] | slice, values: Floats) -> None:
        if place not in files:
            files[place] = _opened(folder, place, np.float16, (len(units), values.shape[1]))
        if files[place].dtype == np.float16 and np.abs(values).max() > np.finfo(np.float16).max:
            halves = np.array(files[place])  # a place of a model with large vectors has single precision
            files[place] = _opened(folder, place, np.float32, halves.shape)
            files[place][:] = halves
        files[place][numbers] = values

    tokens = model.tokens(units)
    done = 0
    waiting = [*in_batches([len(ids) for ids, *_ in tokens], TOKENS_PER_BATCH, model.batch_size)]
    if wanted.only is not None and wanted.only[0] == "sentence":
        waiting = []
    with torch.inference_mode():
        while waiting:
            numbers = waiting.pop(0)
            batch = [tokens[number] for number in numbers]
            weights = np.zeros((len(batch), len(wanted.poolings), max(len(ids) for ids, *_ in batch)), np.float32)
            for line, (ids, special, in_target) in enumerate(batch):
                for at, pooling in enumerate(wanted.poolings):
                    weights[line, at, : len(ids)] = _weights(pooling, special, in_target)
            try:
                for (part, layer), values in _pooled(model, [ids for ids, *_ in batch], weights):
                    for at, pooling in enumerate(wanted.poolings):
                        if wanted.has(place := (part, layer, pooling)):
                            write(place, numbers, values[:, at])
            except torch.OutOfMemoryError as error:
                if len(numbers) == 1:
                    problem = f"one text does not fit into the memory of {model.device}"
                    raise DiscoprobeError(f"{model.name}: {problem}") from error
                waiting = [numbers[: len(numbers) // 2], numbers[len(numbers) // 2 :], *waiting]
                continue
            if missing := wanted.layers - {layer for _, layer, _ in files}:
                named = ", ".join(map(str, sorted(missing)))
                raise DiscoprobeError(f"--layers: {model.name} has no layer {named} (0 is that of the embeddings)")
            done += len(numbers)
            progress("encoding", done, len(units))
    if model.sentences is not None and wanted.has(("sentence", 0, "own")):
        texts = [text for text, *_ in units]
        encoded = model.sentences.encode(texts, batch_size=model.batch_size, show_progress_bar=False)
        write(("sentence", 0, "own"), slice(None), np.asarray(encoded, np.float32))
    return {place: _file(folder, place) for place in files}


def _file(folder: Path, place: Place) -> Path:
    return folder / f"{' '.join(map(str, place))}.npy"


def _opened(folder: Path, place: Place, dtype: type[np.floating[Any]], size: tuple[int, ...]) -> Any:
    """A new file of vectors, as an array; a full disk is an error here, and not when it is written to.

    Raises:
        OSError: the disk is full.
    """
    path = _file(folder, place)
    array = np.lib.format.open_memmap(path, mode="w+", dtype=dtype, shape=size)
    if hasattr(os, "posix_fallocate"):  # not on macOS
        with path.open("r+b") as file:
            os.posix_fallocate(file.fileno(), 0, path.stat().st_size)
    return array


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


def _pooled(
    model: LanguageModel, batch: Sequence[list[int]], weights: Floats
) -> Iterator[tuple[tuple[str, int], Floats]]:
    """Part and layer of a model, and the vectors of a batch of texts there, shape (texts, poolings, dimensions)."""
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
    for part, (states, weight) in parts.items():
        for layer, of_layer in enumerate(states):
            yield (part, layer), torch.bmm(weight, of_layer.float()).cpu().numpy()


def _read_kept(kept_in: Path, units: Sequence[Unit]) -> tuple[list[tuple[Mapping[Place, Path], Ints, Ints]], Bools]:
    """Where a folder of the cache has the vectors of texts (as `Vectors` takes it), and of which texts it has them."""
    keys, is_known = keys_of(units), np.zeros(len(units), bool)
    parts: list[tuple[Mapping[Place, Path], Ints, Ints]] = []
    for folder in sorted(kept_in.glob("[!.]*")):
        try:
            stored = np.load(folder / "keys.npy")
            order = np.argsort(stored)
            lines = order[np.minimum(np.searchsorted(stored, keys, sorter=order), len(stored) - 1)]
            is_new = (stored[lines] == keys) & ~is_known
            if not is_new.any():
                continue
            files: dict[Place, Path] = {(part, int(layer), pooling): path for path in sorted(folder.glob("* * *.npy"))
                     for part, layer, pooling in [path.stem.split()]}  # fmt: skip
            part = (files, np.flatnonzero(is_new), lines[is_new])
            Vectors(len(units), [part])
            parts.append(part)
            is_known |= is_new
            os.utime(folder)
        except (OSError, ValueError, IndexError):  # damaged, or deleted by another process
            shutil.rmtree(folder, ignore_errors=True)
    return parts, is_known


def _keep(folder: Path, limit: int) -> Path:
    """Makes a new folder a part of the cache, and deletes others if there is too much; returns where it is then.

    A folder that is larger than the cache stays where it is.
    """
    in_use = {each: _size(each) for each in folder.parents[1].glob("*/*") if each != folder}
    size = _size(folder)
    if size > limit:
        return folder
    for oldest in sorted(in_use, key=lambda each: each.stat().st_mtime):
        if sum(in_use.values()) + size <= limit:
            break
        shutil.rmtree(oldest, ignore_errors=True)
        del in_use[oldest]
    return folder.rename(folder.with_name(folder.name[1:]))


def _size(folder: Path) -> int:
    return sum(path.stat().st_size for path in folder.iterdir())


def keys_of(units: Sequence[Unit]) -> npt.NDArray[np.uint64]:
    """The key of each text and its target."""
    texts, starts, ends = zip(*units, strict=True)
    return hashing.record_keys(texts, map(str, starts), map(str, ends)).to_numpy()
