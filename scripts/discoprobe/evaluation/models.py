"""Models of the transformers library, from a local folder or the Hub."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal

from discoprobe.loaders.errors import DiscoprobeError
from discoprobe.loaders.file_hashes import hashes_of

TOKENS_PER_BATCH = 8192
"""Largest number of tokens in a batch, padding included."""

MOST_TOKENS = 512
"""Largest number of tokens of a text, if neither the model nor its tokenizer has a maximum."""


class ModelError(DiscoprobeError):
    """A model that cannot be loaded or used; the message says what to do."""


@dataclass(frozen=True, slots=True)
class LanguageModel:
    """A model with its tokenizer.

    Attributes:
        name: the folder or the Hub id that it was loaded from.
        commit: the commit on the Hub, or the SHA-256 of the weights of a local folder.
        model: the transformers model, in evaluation mode.
        tokenizer: a fast tokenizer with a padding token.
        causal: whether it predicts each token from those before it.
        longest: most tokens of a text; longer texts are cut.
    """

    name: str
    commit: str
    model: Any
    tokenizer: Any
    causal: bool
    longest: int

    def batches(self, texts: Sequence[str]) -> Iterator[tuple[list[int], dict[str, Any]]]:
        """The texts in batches of similar length: the indices of the texts, and the tensors of the tokenizer."""
        for batch in in_batches([min(n, self.longest) for n in self._lengths(texts)], TOKENS_PER_BATCH):
            yield batch, self._tensors([texts[number] for number in batch])

    def n_cut(self, texts: Sequence[str]) -> int:
        """How many of the texts are longer than the model takes."""
        return sum(n > self.longest for n in self._lengths(texts))

    def _lengths(self, texts: Sequence[str]) -> list[int]:
        return [len(ids) for ids in self.tokenizer(list(texts), truncation=False, verbose=False)["input_ids"]]

    def _tensors(self, texts: list[str]) -> dict[str, Any]:
        return dict(
            self.tokenizer(
                texts, truncation=True, max_length=self.longest, padding=True, return_tensors="pt",
                return_special_tokens_mask=True,
            )
        )  # fmt: skip


def in_batches(lengths: Sequence[int], most: int) -> Iterator[list[int]]:
    """The indices of texts in batches of similar length, the shortest first.

    Args:
        lengths: number of tokens of each text.
        most: largest number of tokens in a batch, padding included; a longer text is a batch of its own.
    """
    batch: list[int] = []
    for number in sorted(range(len(lengths)), key=lambda at: (lengths[at], at)):
        if batch and lengths[number] * (len(batch) + 1) > most:
            yield batch
            batch = []
        batch.append(number)
    if batch:
        yield batch


def load_model(name: str, task: Literal["encoder", "causal"], device: str = "cpu") -> LanguageModel:
    """A model that computes hidden states (``encoder``) or the probability of each token (``causal``).

    Args:
        name: a local folder or a Hub id.
        task: what the model is used for; every model of transformers is an encoder here.
        device: where torch computes, ``cpu`` or ``cuda``.

    Raises:
        ModelError: transformers is not installed, there is no such model, or it has no head for causal prediction.
    """
    try:
        import transformers  # noqa: PLC0415 (takes seconds)
    except ModuleNotFoundError:
        raise ModelError("transformers is not installed: pip install 'discoprobe[probe]'") from None
    transformers.utils.logging.set_verbosity_error()
    transformers.utils.logging.disable_progress_bar()
    try:
        config = transformers.AutoConfig.from_pretrained(name)
        tokenizer = transformers.AutoTokenizer.from_pretrained(name, use_fast=True)
        causal = any("CausalLM" in each or "LMHead" in each for each in config.architectures or ())
        if task == "causal" and not causal:
            architecture = ", ".join(config.architectures or ("unknown",))
            raise ModelError(f"{name} is not a causal language model ({architecture}); leave --surprisal out")
        factory = transformers.AutoModelForCausalLM if task == "causal" else transformers.AutoModel
        model = factory.from_pretrained(name).to(device).eval()
    except (OSError, ValueError, KeyError) as error:
        reason = str(error).strip().splitlines()[0] if str(error).strip() else type(error).__name__
        raise ModelError(f"{name}: cannot be loaded as a model of transformers: {reason}") from error
    if tokenizer.pad_token is None:
        tokenizer.pad_token = tokenizer.eos_token or tokenizer.unk_token
    tokenizer.padding_side = "right"
    return LanguageModel(name, _commit(name, config), model, tokenizer, causal, _longest(tokenizer, config))


def _commit(name: str, config: Any) -> str:
    if Path(name).is_dir():
        weights = sorted([*Path(name).glob("*.safetensors"), *Path(name).glob("*.bin")])
        return "+".join(hashes_of(file).sha256 for file in weights)
    return str(getattr(config, "_commit_hash", None) or "")


def _longest(tokenizer: Any, config: Any) -> int:
    stated = [tokenizer.model_max_length, getattr(config, "max_position_embeddings", None)]
    limits = [limit for limit in stated if isinstance(limit, int) and 0 < limit < 10**6]
    return min(limits, default=MOST_TOKENS)
