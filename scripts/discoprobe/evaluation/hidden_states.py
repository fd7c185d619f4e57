"""Sentence vectors: the hidden states of a frozen encoder, pooled over the tokens of a text."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
import numpy.typing as npt

if TYPE_CHECKING:
    from collections.abc import Sequence

    from discoprobe.evaluation.models import LanguageModel
    from discoprobe.loaders.process_pool import Progress

Vectors = npt.NDArray[np.float16]

POOLINGS = ("mean", "token")
"""``mean`` over the tokens of the text without special ones, or one ``token``: the first (``[CLS]``) of a bidirectional
encoder, the last of a causal model, which is the only one that has seen the whole text."""


def sentence_vectors(model: LanguageModel, texts: Sequence[str], progress: Progress) -> Vectors:
    """The vectors of texts in every layer.

    Args:
        model: the encoder; its weights do not change.
        texts: what is encoded.
        progress: is told how many texts are done.

    Returns:
        Shape (texts, poolings, layers + 1, dimensions), half precision; layer 0 are the embeddings. Poolings are in the
        order of ``POOLINGS``.
    """
    import torch  # noqa: PLC0415 (takes seconds)

    vectors: Vectors = np.empty((0,), np.float16)
    done = 0
    with torch.inference_mode():
        for numbers, tensors in model.batches(texts):
            placed = {name: tensor.to(model.model.device) for name, tensor in tensors.items()}
            special, attended = placed.pop("special_tokens_mask"), placed["attention_mask"]
            states = torch.stack(model.model(**placed, output_hidden_states=True).hidden_states, dim=1)
            words = attended * (1 - special)
            words = torch.where(words.sum(dim=1, keepdim=True) > 0, words, attended)[:, None, :, None]
            mean = (states * words).sum(dim=2) / words.sum(dim=2)
            at = attended.sum(dim=1) - 1 if model.causal else torch.zeros_like(attended[:, 0])
            token = states[torch.arange(len(numbers)), :, at]
            pooled = torch.stack([mean, token], dim=1).to(torch.float16).cpu().numpy()
            if not done:
                vectors = np.empty((len(texts), *pooled.shape[1:]), np.float16)
            vectors[numbers] = pooled
            done += len(numbers)
            progress("encoding", done, len(texts))
    return vectors
