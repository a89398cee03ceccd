from __future__ import annotations

import re

import pytest

from backend.rendering import render_answer, safe_link

ATTACKS = [
    "<img src=x onerror=alert(1)>",
    "<svg onload=alert(1)>",
    "<script>alert(1)</script>",
    "[click](javascript:alert(1))",
    "[click](JaVaScRiPt:alert(1))",
    "[click](&#106;avascript:alert(1))",
    "[click](data:text/html,<script>alert(1)</script>)",
    "[click](vbscript:msgbox)",
    "![pixel](http://evil.example/p.png)",
    "![pixel][r]\n\n[r]: http://evil.example/p.png",
    '<a href="https://x" onclick="alert(1)">x</a>',
    '[x](https://ok.example "onmouseover=alert(1)")',
    "<iframe src=https://evil.example></iframe>",
    "<style>body{display:none}</style>",
    "<math><mtext><script>alert(1)</script></mtext></math>",
    '<form action="https://evil.example"><button>go</button></form>',
    '<div hx-get="/asks" hx-trigger="load">x</div>',
    "<!-- --><b onfocus=alert(1) tabindex=0>",
    "`<img src=x onerror=alert(1)>`",
    "```html\n<script>alert(1)</script>\n```",
]

TAG = re.compile(r"<[^>]*>")


@pytest.mark.parametrize("attack", ATTACKS)
def test_hostile_answer_keeps_only_harmless_tags(attack: str) -> None:
    tags = TAG.findall(render_answer(attack))
    for tag in tags:
        name = re.match(r"</?(\w+)", tag)
        assert name is not None
        assert name.group(1) in {"p", "a", "code", "pre", "h3", "b"}
        assert not re.search(r"\son\w+=|hx-|src=|style=", tag, re.IGNORECASE)
        assert not re.search(r'href="(?!https?://|mailto:|#c-)', tag)


def test_images_are_their_alternative_text() -> None:
    assert render_answer("![a picture](https://evil.example/x.png)") == "<p>a picture</p>\n"


def test_marker_links_to_its_citation() -> None:
    assert 'href="#c-2"' in render_answer("So it is [2].")


def test_marker_stays_on_the_line_of_the_word_it_follows() -> None:
    html = render_answer("So it is [2]. See [2]\nand `x` [2]")
    assert "is&nbsp;<a" in html
    assert html.count("&nbsp;") == 3


def test_marker_without_a_citation_stays_text() -> None:
    html = render_answer("One [1], nine [9].", numbers=[1])
    assert 'href="#c-1"' in html
    assert "[9]" in html
    assert "#c-9" not in html


def test_marker_cannot_be_turned_into_a_link_elsewhere() -> None:
    html = render_answer(
        "Look [1](https://evil.example).\n\n[1]: https://evil.example", numbers=[1]
    )
    assert 'href="https' not in html
    assert html.count('href="#c-1"') == 2


def test_bracketed_number_in_code_is_no_citation() -> None:
    assert "#c-1" not in render_answer("Use `rows[1]`.\n\n    rows[1]\n")


def test_ordinary_links_name_no_referrer() -> None:
    html = render_answer("[docs](https://docs.example/a?b=1&c=2)")
    assert 'href="https://docs.example/a?b=1&amp;c=2"' in html
    assert "noreferrer" in html


def test_relative_link_loses_its_address() -> None:
    assert "href" not in render_answer("[records](/asks)")


def test_headings_stay_below_those_of_the_page() -> None:
    assert render_answer("# Top\n\n###### Low").splitlines() == ["<h3>Top</h3>", "<h6>Low</h6>"]


def test_unsupported_sentence_is_marked_with_its_inner_markup() -> None:
    html = render_answer("Fine [1]. Not **so** fine.", unsupported=["Not **so** fine."])
    assert '<span class="unsupported">Not <strong>so</strong> fine.</span>' in html


def test_sentence_that_cuts_through_emphasis_is_not_marked() -> None:
    html = render_answer("**One. Two.** Three.", unsupported=["**One."])
    assert html == "<p><strong>One. Two.</strong> Three.</p>\n"


def test_unsupported_sentence_in_a_list_is_marked() -> None:
    html = render_answer("- one [1]\n- two", unsupported=["two"])
    assert '<li><span class="unsupported">two</span></li>' in html


def test_tables_carry_no_inline_style() -> None:
    html = render_answer("|a|b|\n|-|-:|\n|1|2|")
    assert "<table>" in html
    assert "style" not in html


@pytest.mark.parametrize(
    ("address", "is_kept"),
    [
        ("https://docs.example/x#y", True),
        ("mailto:a@b.example", True),
        ("javascript:alert(1)", False),
        (" javascript:alert(1)", False),
        ("data:text/html,x", False),
        ("//evil.example", False),
        ("/asks", False),
        ("https://a b", False),
        ("", False),
    ],
)
def test_only_web_and_mail_addresses_are_links(address: str, is_kept: bool) -> None:
    assert bool(safe_link(address)) is is_kept
