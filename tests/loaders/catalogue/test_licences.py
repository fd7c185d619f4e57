"""Licence names: one identifier, what it allows, which is strictest."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from discoprobe.loaders import UnknownNameError
from discoprobe.loaders.catalogue import checked, normalise, openness, publishable, strictest, strictness

SPELLINGS = {
    "CC BY-SA 4.0": "CC-BY-SA-4.0",
    "cc-by-sa-4.0": "CC-BY-SA-4.0",
    "CC-BY-SA-4.0": "CC-BY-SA-4.0",
    "CC BY 4.0": "CC-BY-4.0",
    "CC BY-SA": "CC-BY-SA",
    "CC BY-NC-SA 3.0": "CC-BY-NC-SA-3.0",
    "CC BY-NC-ND 4.0": "CC-BY-NC-ND-4.0",
    "Creative Commons BY 2.5": "CC-BY-2.5",
    "CC0": "CC0-1.0",
    "CC0 1.0": "CC0-1.0",
    "PD": "LicenseRef-public-domain",
    "public domain": "LicenseRef-public-domain",
    "LGPL-LR": "LGPLLR",
    "LGPLLR": "LGPLLR",
    "GNU GPL 3.0": "GPL-3.0",
    "GPL-3.0": "GPL-3.0",
    "GPLv3": "GPL-3.0",
    "MIT": "MIT",
    "mit": "MIT",
    "Apache-2.0": "Apache-2.0",
    "Apache License, Version 2.0": "Apache-2.0",
    "C-UDA 1.0": "C-UDA-1.0",
    "unknown": "unknown",
    "": "unknown",
    "see the website": "unknown",
    "frei mit Quellenangabe": "unknown",
    "LGPL 2.1": "unknown",
    "Creative Commons Attribution 4.0": "unknown",
    "CC BY 4.0 International": "CC-BY-4.0",
    "GPL-3.0-or-later": "GPL-3.0",
}
COMPOSITE = "CC BY 4.0, CC BY-SA 3.0 and CC BY 2.5; public domain"
MORE_THAN_A_LICENCE = (
    "CC BY 4.0 (non-commercial)",
    "CC BY 4.0 NonCommercial",
    "CC BY-SA 4.0 NoDerivatives",
    "CC BY 4.0 for research only",
    "CC BY 4.0 NC",
    "CC BY (NC) 4.0",
    "MIT (code), text proprietary",
    "MIT (code)",
    "annotations CC BY 4.0",
    "public domain in the USA",
    "not CC BY 4.0",
    "CC0 1.0 except the images",
    "CC BY 4.0 仅供研究",
)


@pytest.mark.parametrize(("name", "identifier"), SPELLINGS.items())
def test_spellings(name, identifier):
    assert normalise(name) == identifier


@pytest.mark.parametrize("identifier", sorted(set(SPELLINGS.values())))
def test_identifiers_stay_what_they_are(identifier):
    assert normalise(identifier) == identifier
    assert strictest([identifier]) == identifier


@pytest.mark.parametrize(
    "name", ["CC BY 4.0", "cc-by-sa-3.0", "ODC-By-1.0", "MIT AND CC-BY-4.0", "GPL 3.0", "PD", "unknown"]
)
def test_licences_that_there_are(name):
    assert checked(name) == name


@pytest.mark.parametrize("name", ["", "Foo", "CC BY 9.9", "LicenseRef-mine", "MTI", "CC BY 4.0 (non-commercial)"])
def test_licences_that_there_are_not(name):
    near = {"CC BY 9.9": "did you mean CC-BY-4.0", "MTI": "did you mean MIT"}.get(name, "an identifier of https://spdx")
    with pytest.raises(UnknownNameError, match=near) as error:
        checked(name)
    assert f"unknown licence '{name}'" in str(error.value)


def test_several_licences_are_all_kept():
    assert normalise(COMPOSITE) == "CC-BY-4.0 AND CC-BY-SA-3.0 AND CC-BY-2.5 AND LicenseRef-public-domain"
    assert strictest([COMPOSITE]) == "CC-BY-SA-3.0"


@pytest.mark.parametrize("name", MORE_THAN_A_LICENCE)
def test_what_is_left_over_after_a_known_licence_is_unknown(name):
    assert "unknown" in normalise(name).split(" AND ")
    assert normalise(normalise(name)) == normalise(name)
    assert strictest([name]) == "unknown"
    assert not publishable(name)


@pytest.mark.parametrize(
    ("name", "kind"),
    [
        ("CC BY-SA 4.0", "open"),
        ("CC0", "open"),
        ("PD", "open"),
        ("LGPL-LR", "open"),
        ("GNU GPL 3.0", "open"),
        ("C-UDA 1.0", "restricted"),
        ("CC BY-NC-SA 4.0", "nc"),
        ("CC BY-ND 4.0", "nd"),
        ("CC BY-NC-ND 4.0", "nd"),
        ("somebody's own", "unknown"),
        ("", "unknown"),
        ("CC BY 4.0, CC BY-NC 4.0", "nc"),
        ("CC BY 4.0, texts CC BY-NC 4.0", "unknown"),
    ],
)
def test_openness(name, kind):
    assert openness(name) == kind
    assert publishable(name) == (kind == "open")


@pytest.mark.parametrize(
    ("names", "identifier"),
    [
        (["CC BY 4.0", "CC BY-SA 3.0"], "CC-BY-SA-3.0"),
        (["CC BY-SA 3.0", "CC BY-SA 4.0"], "CC-BY-SA-4.0"),
        (["CC BY-SA", "CC BY-SA 3.0"], "CC-BY-SA-3.0"),
        (["CC BY-SA 4.0", "GNU GPL 3.0"], "GPL-3.0"),
        (["CC0", "PD", "MIT"], "MIT"),
        (["GNU GPL 3.0", "CC BY-NC 4.0"], "CC-BY-NC-4.0"),
        (["CC BY-NC-SA 4.0", "CC BY-NC-ND 4.0"], "CC-BY-NC-ND-4.0"),
        (["CC BY-NC-ND 4.0", "who knows"], "unknown"),
        ([], "unknown"),
    ],
)
def test_strictest(names, identifier):
    assert strictest(names) == identifier


@given(st.lists(st.sampled_from(sorted(SPELLINGS)), min_size=1))
def test_strictest_is_one_of_them_whatever_the_order(names):
    result = strictest(names)
    assert result in {normalise(name) for name in names}
    assert strictest(reversed(names)) == result
    assert all(strictness(normalise(name)) <= strictness(result) for name in names)


@given(st.text())
def test_any_text_has_an_openness(text):
    assert openness(text) in {"open", "restricted", "nc", "nd", "unknown"}
