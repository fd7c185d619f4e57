"""Publish release folders on the Hugging Face Hub, and verify what is there.

``staging`` plans a push and collects its files, ``push`` carries the plan out, and ``verify`` compares a published
release with its manifest. ``client`` is the only module that imports ``huggingface_hub``.
"""

from discoprobe.loaders.rooms import offer

__getattr__, __dir__, __all__ = offer(__name__, {
    "client": ["Hub", "RetryPolicy"],
    "push": ["send"],
    "staging": ["PushResult", "Remote", "plan_push", "plan_restore"],
    "verify": ["reasons"],
})  # fmt: skip
