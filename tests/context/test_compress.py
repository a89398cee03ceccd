from __future__ import annotations

import asyncio
from collections.abc import Sequence

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from context.compress import CompressRequest, compress
from context.contract import Compression, Passage
from context.errors import BadInputError, DoesNotFitError
from context.forcing import Rules
from retrieval.tokens import Tokenizer
from tests.context.texts import LIMITS, PASSAGES

SLOW = settings(max_examples=60, deadline=None)


def shrink(
    texts: Sequence[str],
    tokenizer: Tokenizer,
    *,
    target: int | None = None,
    ratio: float = 0.5,
    purpose: str = "",
    rules: Rules | None = None,
) -> Compression:
    request = CompressRequest(
        tuple(Passage(id=str(at), text=text) for at, text in enumerate(texts)),
        target,
        ratio,
        purpose,
        rules or Rules(),
    )
    return asyncio.run(compress(request, tokenizer, None, price_per_million_tokens=3.0))


def test_the_sentence_the_purpose_asks_for_is_kept_and_the_rest_is_not(
    tokenizer: Tokenizer,
) -> None:
    result = shrink([LIMITS], tokenizer, ratio=0.35, purpose="How many requests may a key make?")

    assert "The API accepts 60 requests a minute for each key [1]." in result.text
    assert "Lisbon" not in result.text


def test_figures_are_ratio_rate_and_price_of_what_was_saved(tokenizer: Tokenizer) -> None:
    result = shrink([LIMITS], tokenizer, ratio=0.5)

    assert result.origin_tokens == tokenizer.count(LIMITS)
    assert result.ratio == pytest.approx(result.origin_tokens / result.compressed_tokens)
    assert result.rate == pytest.approx(1 / result.ratio)
    saved = result.origin_tokens - result.compressed_tokens
    assert result.saving == pytest.approx(saved * 3.0 / 1_000_000)


def test_a_target_above_the_input_returns_it_unchanged(tokenizer: Tokenizer) -> None:
    result = shrink([LIMITS], tokenizer, target=10_000)

    assert result.text == LIMITS
    assert result.ratio == 1.0
    assert result.dropped_pieces == 0


@pytest.mark.parametrize("ratio", [0.0, -0.5, 1.5])
def test_a_ratio_out_of_range_is_refused(tokenizer: Tokenizer, ratio: float) -> None:
    with pytest.raises(BadInputError, match="ratio"):
        shrink([LIMITS], tokenizer, ratio=ratio)


def test_blank_input_is_refused(tokenizer: Tokenizer) -> None:
    with pytest.raises(BadInputError, match="no text"):
        shrink(["  \n "], tokenizer)


def test_a_forced_word_that_cannot_fit_is_refused_with_the_numbers(tokenizer: Tokenizer) -> None:
    with pytest.raises(DoesNotFitError, match="target is 2"):
        shrink([LIMITS], tokenizer, target=2, rules=Rules(force=("Retry-After header",)))


def test_a_forced_phrase_over_two_sentences_survives_letter_for_letter(
    tokenizer: Tokenizer,
) -> None:
    phrase = "each key [1]. A key is made"

    result = shrink([LIMITS], tokenizer, ratio=0.4, rules=Rules(force=(phrase,)))

    assert phrase in result.text


def test_a_forced_name_in_code_too_long_to_keep_brings_its_line(tokenizer: Tokenizer) -> None:
    code = "\n".join(f"value_{number} = compute({number})" for number in range(40))
    text = f"Intro sentence about nothing.\n\n```python\n{code}\n```\n"

    result = shrink([text], tokenizer, target=30, rules=Rules(force=("value_17",)))

    assert "value_17 = compute(17)" in result.text.splitlines()


def test_hidden_text_goes_unless_the_caller_forces_it(tokenizer: Tokenizer) -> None:
    text = f"<!-- build 4711 by example -->\n\n{LIMITS}"

    assert "4711" not in shrink([text], tokenizer, ratio=0.8).text
    assert "build 4711" in shrink([text], tokenizer, rules=Rules(force=("build 4711",))).text


def test_digits_are_kept_by_option(tokenizer: Tokenizer) -> None:
    text = "Plan A has 60 calls. The office is pretty. Plan B has 75 calls. The garden is green."

    result = shrink([text], tokenizer, ratio=0.7, rules=Rules(keeps_digits=True))

    assert "60" in result.text
    assert "75" in result.text


@pytest.mark.parametrize(("drops_repeats", "times"), [(True, 1), (False, 3)])
def test_repeats_of_a_forced_word_are_dropped_by_option(
    tokenizer: Tokenizer, drops_repeats: bool, times: int
) -> None:
    text = "The zebra eats grass. " * 3 + "Nothing else happens in the long afternoon here. " * 4
    rules = Rules(force=("zebra",), drops_repeats=drops_repeats)

    result = shrink([text], tokenizer, target=15, rules=rules)

    assert result.text.count("zebra") == times


def test_a_cut_clause_keeps_the_citation_of_its_sentence(tokenizer: Tokenizer) -> None:
    text = (
        "While the weather in the mountains is often bad and the roads are closed for many weeks, "
        "the limit is MAX_CALLS, which nobody ever wanted to change in all these years [4]."
    )

    result = shrink([text], tokenizer, target=12, rules=Rules(force=("MAX_CALLS",)))

    assert "MAX_CALLS" in result.text
    assert result.text.endswith("[4]")


def test_a_long_sentence_is_cut_at_a_stop_with_headroom(tokenizer: Tokenizer) -> None:
    text = "see v2.1 of it e.g. today. and " + "then some more words follow it " * 10

    result = shrink([text], tokenizer, target=14)

    assert result.text == "see v2.1 of it e.g."
    assert result.compressed_tokens <= 12


def test_a_text_without_a_stop_is_cut_at_the_limit(tokenizer: Tokenizer) -> None:
    result = shrink(["word " * 50], tokenizer, target=12)

    assert result.text == " ".join(["word"] * 10)


def test_reported_spans_rebuild_each_passage(tokenizer: Tokenizer) -> None:
    result = shrink([LIMITS, LIMITS.upper()], tokenizer, ratio=0.4, purpose="requests a minute")

    for passage, text in zip(result.passages, [LIMITS, LIMITS.upper()], strict=True):
        for span in passage.kept:
            assert text[span.start : span.end] in passage.text
        kept = "".join(text[span.start : span.end] for span in passage.kept)
        assert kept.split() == passage.text.split() or "".join(passage.text.split()) == "".join(
            kept.split()
        )


@SLOW
@given(texts=PASSAGES, ratio=st.floats(0.05, 1.0), purpose=st.sampled_from(["", "plan requests"]))
def test_the_budget_is_never_exceeded_and_counts_are_exact(
    tokenizer: Tokenizer, texts: list[str], ratio: float, purpose: str
) -> None:
    result = shrink(texts, tokenizer, ratio=ratio, purpose=purpose)

    assert result.origin_tokens == tokenizer.count("\n\n".join(texts))
    assert result.compressed_tokens == tokenizer.count(result.text)
    assert result.compressed_tokens <= max(1, int(result.origin_tokens * ratio))


@SLOW
@given(texts=PASSAGES, ratio=st.floats(0.05, 1.0))
def test_order_is_kept_and_nothing_is_invented(
    tokenizer: Tokenizer, texts: list[str], ratio: float
) -> None:
    result = shrink(texts, tokenizer, ratio=ratio)

    for passage, text in zip(result.passages, texts, strict=True):
        assert [(span.start, span.end) for span in passage.kept] == sorted(
            (span.start, span.end) for span in passage.kept
        )
        visible = iter(text)
        assert all(character in visible for character in "".join(passage.text.split()))


@SLOW
@given(texts=PASSAGES, ratio=st.floats(0.05, 1.0))
def test_code_and_rows_are_whole_or_absent(
    tokenizer: Tokenizer, texts: list[str], ratio: float
) -> None:
    result = shrink(texts, tokenizer, ratio=ratio)

    for passage, text in zip(result.passages, texts, strict=True):
        whole = {line.strip() for line in text.splitlines()}
        for line in passage.text.splitlines():
            if line.startswith("|"):
                assert line.strip() in whole
        assert passage.text.count("```") % 2 == 0


@pytest.mark.parametrize(
    "line", ["call({})\n", "| cell | {} |\n"], ids=["a line of code", "a table row"]
)
def test_a_forced_word_survives_alone_where_its_line_is_larger_than_the_target(
    tokenizer: Tokenizer, line: str
) -> None:
    long = line.format(", ".join(f'"media_type": image{at}_type' for at in range(40)))
    text = f"```python\n{long}```" if long.startswith("call") else f"| a | b |\n|---|---|\n{long}"

    result = shrink([text], tokenizer, ratio=0.3, rules=Rules(force=("image7_type",)))

    assert result.text.splitlines()[-1] == "image7_type"
    assert result.compressed_tokens <= 0.3 * result.origin_tokens


@SLOW
@given(texts=PASSAGES, ratio=st.floats(0.1, 1.0), data=st.data())
def test_forced_words_survive_or_the_call_is_refused(
    tokenizer: Tokenizer, texts: list[str], ratio: float, data: st.DataObject
) -> None:
    text = data.draw(st.sampled_from(texts))
    start = data.draw(st.integers(0, len(text) - 1))
    phrase = text[start : data.draw(st.integers(start + 1, min(len(text), start + 20)))]

    try:
        result = shrink(texts, tokenizer, ratio=ratio, rules=Rules(force=(phrase,)))
    except DoesNotFitError:
        return

    assert phrase.strip() in result.text
    assert result.compressed_tokens <= max(1, int(result.origin_tokens * ratio))


@SLOW
@given(texts=PASSAGES)
def test_ratio_one_changes_nothing(tokenizer: Tokenizer, texts: list[str]) -> None:
    once = shrink(texts, tokenizer, ratio=1.0)
    again = shrink([once.text], tokenizer, ratio=1.0)

    assert [passage.text for passage in once.passages] == texts
    assert again.text == once.text
    assert again.ratio == 1.0
