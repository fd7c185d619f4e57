"""Plans of other states than those of the catalogue."""

from msgspec.structs import replace

from discoprobe.plan import plan


def plan_with(request, pinned):
    """The plan of a request, with a corpus as it was at another commit in place of the catalogue's."""
    made, groups = plan(request), []
    for group in made.groups:
        corpora = tuple(replace(one, pinned=pinned) if one.name == pinned.name else one for one in group.corpora)
        groups.append(replace(group, corpora=corpora))
    return replace(made, groups=tuple(groups))
