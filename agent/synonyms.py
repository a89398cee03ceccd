"""Words of software documentation that ask and answer for each other.

Readers ask in their words, manuals answer in theirs ("which error" - "raises", "twice" - "once").
Each line is a group; a match within a group counts less than the word itself.
"""

from __future__ import annotations

from functools import lru_cache

from prose.words import stem

MATCH_CREDIT = 0.7
"""Credit of a synonym against 1 for the word itself, as fitted on the development questions."""

_GROUPS = """
error exception fail failure raise raised
delete remove del discard unbind
int integer whole
str string
dict dictionary mapping
func function callable
arg argument parameter param
run execute start launch
change modify alter update mutate edit
create make build construct produce generate
begin start first
stop end terminate finish exit quit abort
allow permit let accept
must require need mandatory
show display print output
get retrieve obtain extract fetch access read
large big maximum max limit longest
small minimum min
twice two double second
once one single exactly
differ difference distinguish versus
fast quick speed performance slow efficient cost
empty blank
same identical equal equivalent
choose select pick
skip ignore omit
keep preserve retain save
order sequence sort
call invoke
name identifier variable
branch clause suite block
letter character char alphabet
hide suppress conceal
turn convert become
miss missing absent lack without
share shared common
price cost fee charge
install setup set
configure config option setting parameter
enable activate
disable deactivate
find locate search lookup
combine join concatenate merge
give provide supply return yield
assign bind
check test verify validate
happen occur result
"""


@lru_cache(maxsize=1)
def _groups() -> dict[str, frozenset[str]]:
    """Map each stem to the stems of all its groups."""
    related: dict[str, set[str]] = {}
    for line in _GROUPS.split("\n"):
        stems = {stem(word) for word in line.split()}
        for each in stems:
            related.setdefault(each, set()).update(stems)
    return {word: frozenset(others) for word, others in related.items()}


def has_synonym(term: str, bag: frozenset[str]) -> bool:
    """Whether a bag of stems contains a word that stands for a term."""
    others = _groups().get(term)
    return bool(others) and not bag.isdisjoint(others or ())
