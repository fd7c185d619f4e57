import pytest
from shared import STANZA


@pytest.fixture(scope="session")
def stanza_engine():
    """A function: Stanza in a language, to annotate or to segment."""
    from discoprobe.loaders.raw import AnnotationOptions, choose_engine

    return lambda lang, **options: choose_engine(lang, AnnotationOptions(stanza_dir=STANZA, **options))


@pytest.fixture(scope="session")
def german(stanza_engine):
    """The engine for German."""
    return stanza_engine("de")
