"""What the guard reads: named numbers of one search, computed over all candidates.

They are taken before fusion, reranking and removal, so that none of these can change a verdict. In
every formula ``idf(t) = ln(1 + (N - n + 0.5) / (n + 0.5))`` over the passages the caller may see,
the query's words are its analysed terms without stop words, and the head is the first
``HEAD_SIZE`` candidates of the fused order.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from retrieval.fusion import Scored
from retrieval.search import SearchSignals
from retrieval.sparse import Term

HEAD_SIZE = 8
_MARGIN_PLACE = 5
_OVERLAP_PLACES = 10
_MEAN_PLACES = 3

TermSets = Mapping[str, frozenset[int]]


@dataclass(frozen=True, slots=True)
class WeighedTerm:
    """A word of the query with what the index knows of it.

    Attributes:
        idf: Largest when no visible passage contains it.
        is_known: Whether any does.
    """

    term: Term
    idf: float
    is_known: bool


def compute_signals(
    candidates: Sequence[Scored],
    words: Sequence[WeighedTerm],
    head: TermSets,
    *,
    returned: TermSets,
    saturation: float,
) -> SearchSignals:
    """Return all signals of one search.

    Args:
        candidates: The union of both lists with both exact numbers.
        words: The query's words.
        head: Term ids of each passage of the fused head.
        returned: Term ids of each passage that is returned.
        saturation: Most one term can weigh in a passage (k1 + 1).
    """
    return SearchSignals(
        best_cosine=max((c.cosine for c in candidates), default=None),
        cosine_margin=cosine_margin(candidates),
        sparse_per_term=sparse_per_term(candidates, words, saturation),
        term_coverage=term_coverage(words, head),
        unknown_terms=unknown_terms(words),
        hit_count=len(candidates),
        more={
            "head_coverage": head_coverage(words, head),
            "rarest_missing": rarest_missing(words, head),
            "number_coverage": number_coverage(words, head),
            "known_entities": known_entities(words),
            "list_overlap": list_overlap(candidates),
            "mean_cosine": mean_cosine(candidates),
            "query_words": float(len(words)),
        },
        missing_terms=missing_terms(words, returned),
    )


def cosine_margin(candidates: Sequence[Scored]) -> float:
    """Best cosine minus the fifth best, or the last when there are fewer. Range [0, 2]."""
    best = sorted((c.cosine for c in candidates), reverse=True)[:_MARGIN_PLACE]
    return best[0] - best[-1] if best else 0.0


def mean_cosine(candidates: Sequence[Scored]) -> float:
    """Mean of the three best cosines. Range [-1, 1]; 0 without candidates."""
    best = sorted((c.cosine for c in candidates), reverse=True)[:_MEAN_PLACES]
    return sum(best) / len(best) if best else 0.0


def sparse_per_term(
    candidates: Sequence[Scored], words: Sequence[WeighedTerm], saturation: float
) -> float:
    """Best BM25 over the most the words could reach: max bm25 / ((k1 + 1) * sum idf).

    Words never seen count with the largest IDF, so that they lower it. Range [0, 1]; 0 when the
    query has no words.
    """
    reachable = saturation * sum(word.idf for word in words)
    best = max((c.bm25 for c in candidates), default=0.0)
    return min(1.0, best / reachable) if reachable > 0 else 0.0


def term_coverage(words: Sequence[WeighedTerm], head: TermSets) -> float:
    """Most that one passage of the head covers: max over it of sum idf(found) / sum idf.

    Range [0, 1]; 0 when the query has no words.
    """
    return max((_covered(words, terms) for terms in head.values()), default=0.0)


def head_coverage(words: Sequence[WeighedTerm], head: TermSets) -> float:
    """The same for all passages of the head taken together. Range [0, 1]."""
    return _covered(words, _union(head))


def unknown_terms(words: Sequence[WeighedTerm]) -> float:
    """Share of the words that no visible passage contains. Range [0, 1]; 0 without words."""
    return sum(not word.is_known for word in words) / len(words) if words else 0.0


def rarest_missing(words: Sequence[WeighedTerm], head: TermSets) -> float:
    """IDF of the rarest word that the best covering passage lacks, over the largest IDF asked for.

    Range [0, 1]; 0 when nothing is missing.
    """
    best = max(head.values(), key=lambda terms: _covered(words, terms), default=frozenset[int]())
    missing = max((w.idf for w in words if w.term.term_id not in best), default=0.0)
    largest = max((w.idf for w in words), default=0.0)
    return missing / largest if largest > 0 else 0.0


def number_coverage(words: Sequence[WeighedTerm], head: TermSets) -> float:
    """Share of the words holding a digit that the head contains. Range [0, 1]; 1 without any."""
    numbers = [w for w in words if any(map(str.isdigit, w.term.surface))]
    seen = _union(head)
    return _share([w.term.term_id in seen for w in numbers])


def known_entities(words: Sequence[WeighedTerm]) -> float:
    """Share of names that some visible passage contains. Range [0, 1]; 1 without any.

    A name is a word with a capital after its first letter, a digit or an underscore, or one with a
    capital first letter that does not begin the query.
    """
    names = [word for place, word in enumerate(words) if _is_name(word.term.surface, place)]
    return _share([word.is_known for word in names])


def list_overlap(candidates: Sequence[Scored]) -> float:
    """Share of the first ten of the dense list that are among the first ten of the sparse list.

    Range [0, 1].
    """
    dense = [c for c in candidates if c.dense_rank and c.dense_rank <= _OVERLAP_PLACES]
    both = [c for c in dense if c.sparse_rank and c.sparse_rank <= _OVERLAP_PLACES]
    return len(both) / len(dense) if dense else 0.0


def missing_terms(words: Sequence[WeighedTerm], returned: TermSets) -> tuple[str, ...]:
    """Words, as the query has them, that no returned passage contains; rarest first."""
    seen = _union(returned)
    missing = [word for word in words if word.term.term_id not in seen]
    ordered = sorted(missing, key=lambda word: (-word.idf, word.term.surface))
    return tuple(dict.fromkeys(word.term.surface for word in ordered))


def _covered(words: Sequence[WeighedTerm], terms: frozenset[int]) -> float:
    total = sum(word.idf for word in words)
    found = sum(word.idf for word in words if word.term.term_id in terms)
    return min(1.0, found / total) if total > 0 else 0.0


def _union(sets: TermSets) -> frozenset[int]:
    return frozenset[int]().union(*sets.values())


def _share(facts: Sequence[bool]) -> float:
    return sum(facts) / len(facts) if facts else 1.0


def _is_name(surface: str, place: int) -> bool:
    if any(c.isupper() for c in surface[1:]) or any(c.isdigit() or c == "_" for c in surface):
        return True
    return place > 0 and surface[:1].isupper()
