"""Publish release folders on the Hugging Face Hub, and verify what is there.

``staging`` collects the files of a commit, ``push`` plans and makes it, and ``verify`` compares a published release
with its manifest. ``client`` is the only module that imports ``huggingface_hub``.
"""

from discoprobe.loaders.rooms import offer

__getattr__, __dir__, __all__ = offer(__name__, {
    "client": ["Hub", "RetryPolicy"],
    "push": ["Options"],
    "staging": ["Remote"],
    "verify": ["reasons"],
})  # fmt: skip
