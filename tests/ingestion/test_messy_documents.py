"""Real files that break parsers: what must come out of each, and what must not."""

from __future__ import annotations

import json
import re
from dataclasses import dataclass
from functools import cache
from pathlib import Path

import pytest

from ingestion.chunking import ChunkRules, chunk_document
from ingestion.cleaning import page_key
from ingestion.document import Parsed, RawContent
from ingestion.drafts import Draft
from ingestion.errors import UnreadableError
from ingestion.parsers.registry import parse
from tests.ingestion.words import WordTokenizer

FOLDER = Path(__file__).resolve().parents[3] / "shared" / "messy_docs"
RULES = ChunkRules(target_tokens=180, overlap_tokens=40, input_limit_tokens=256)

pytestmark = [
    pytest.mark.shared,
    pytest.mark.skipif(not FOLDER.is_dir(), reason="the measuring data is not beside the project"),
]


@dataclass(frozen=True)
class Fact:
    """Words that must stand in one chunk, with what is embedded or cited beside them."""

    file: str
    text: str
    embedded: str = ""
    url: str = ""
    page: int = 0


FACTS = [
    Fact("claude-docs__llms-full.txt", "# Enable Bedrock integration", "Bedrock", "amazon-bedrock"),
    Fact("claude-docs-sitemap__vision.md", "placing long documents before your query", "Vision"),
    Fact("claude-docs-sitemap__vision.md", '"media_type": "image/jpeg"', "Base64-encoded image"),
    Fact("claude-docs-sitemap__pricing.md", "| Claude Opus 4.5", "Base Input Tokens"),
    Fact("claude-docs-sitemap__rate-limits.md", "Claude Sonnet 5", "Start tier"),
    Fact("claude-docs-sitemap__rate-limits.md", "Claude Opus 5", "Scale tier"),
    Fact("claude-docs-sitemap__rate-limits.md", "Claude Opus 5", "Maximum reques"),
    Fact("anthropic-docs__home.md", "Craft and test powerful prompts"),
    Fact("anthropic-docs__n_nWhen.md", "Craft and test powerful prompts"),
    Fact("hugoDocs__shortcode.md", "layouts/", "Directory structure", "#directory-structure"),
    Fact("hugoDocs__shortcode.md", "{{</* media/audio path=", "Directory structure"),
    Fact("react.dev__common.md", "suppressHydrationWarning", "Props", "#common-props"),
    Fact("react.dev__common.md", "<div className=", "Common components (e.g. <div>)"),
    Fact("WSL__faq.yml", "enables you to run a Linux file system", "What is Windows Subsystem"),
    Fact("WSL__faq.yml", "tool for developers", "Who is WSL for?", "#who-is-wsl-for"),
    Fact("WSL__release-notes.md", "", "> Build 18980"),
    Fact("WSL__troubleshooting.md", "0x8007019e", "Troubleshooting"),
    Fact("WSL__troubleshooting.md", "0x80070003", "Troubleshooting"),
    Fact("flask__config.rst", "Enable testing mode", "Builtin Configuration Values"),
    Fact("flask__config.rst", "app.config['TESTING'] = True", "Configuration Basics"),
    Fact("asciidoctor__whats-new.adoc", "Add Kiswahili translation", "Asciidoctor 2.0.19"),
    Fact("docs__server.mdx", 'uv add "mcp[cli]" httpx', "Python > Set up your environment"),
    Fact("docs__server.mdx", "@SpringBootApplication", "Java"),
    Fact("commonmark-spec__spec.txt", "with a tab stop", "Tabs"),
    Fact("unstructured__example-10k-1p.html", "| Common stock | GLXZ |", "Trading symbol"),
    Fact("unstructured__example-with-scripts.html", "Neman and Berezina rivers", "December 13"),
    Fact("unstructured__example-steelJIS-datasheet-utf-16.html", "0.75 - 1.2", "| Mo |"),
    Fact("unstructured__example-steelJIS-datasheet-utf-16.html", "成分", "SNB22-3"),
    Fact("unstructured__fake-html-with-base64-image.html", "Test page"),
    Fact("unstructured__UDHR_first_article_all.txt", "ᒥᓯᐌ ᐃᓂᓂᐤ"),
    Fact("unstructured__UDHR_first_article_all.txt", "יולדו בני חורין".replace("יולדו", "נולדו")),
    Fact("unstructured__norwich-city.txt", "Height 6 ft 3 in (1.91 m)"),
    Fact("unstructured__multi-column-2p.pdf", "outperforms a strong Lucene", "", "#page=1", 1),
    Fact("unstructured__multi-column-2p.pdf", "dual-encoder architecture", "", "#page=2", 2),
    Fact("unstructured__interface-config-guide-p93.pdf", "port 1/x1/1/c1/1", "", "#page=1", 1),
    Fact("unstructured__header-test-doc.pdf", "lovely", "", "#page=1", 1),
    Fact("unstructured__fake-memo-with-duplicate-page.pdf", "10,000 blankets", "", "#page=2", 2),
    Fact("docling__html_code_snippets.html", "result = converter.convert(source)", "Code snippets"),
    Fact("docling__table_06.html", "| E3 | E4 |", "Header"),
    Fact("docling__wiki_duck.html", "| Family: | Anatidae |", "Duck"),
    Fact("markitdown__test_mskanji.csv", "| 髙橋淳 | 35 | 名古屋 |", "| 名前 | 年齢 | 住所 |"),
    Fact("markitdown__test_notebook.ipynb", "# comment in code\nprint(42)"),
]

ABSENT = {
    "unstructured__example-with-scripts.html": ["function(", "jQuery", "var _gaq"],
    "unstructured__example-steelJIS-datasheet-utf-16.html": ["adsbygoogle", "About us"],
    "docling__wiki_duck.html": ["Alemannisch", "Log in", "mw.config"],
    "docling__html_code_snippets.html": ["$ docling-tools\n"],
    "unstructured__fake-html-with-base64-image.html": ["base64"],
}

REASONS = {
    "unstructured__password.pdf": "encrypted: it needs a password",
    "unstructured__table-multi-row-column-cells.pdf": "no text layer: 1 pages of images",
}


@cache
def parsed(name: str) -> Parsed:
    data = (FOLDER / "files" / name).read_bytes()
    return parse(RawContent(name, f"https://docs.example/{name}", data))


@cache
def drafts(name: str) -> tuple[Draft, ...]:
    found: list[Draft] = []
    for document in parsed(name).documents:
        found += chunk_document(document, WordTokenizer(), RULES).drafts
    return tuple(found)


def manifest() -> list[str]:
    if not FOLDER.is_dir():
        return []
    lines = (FOLDER / "manifest.jsonl").read_text(encoding="utf-8").splitlines()
    return [str(json.loads(line)["file"]) for line in lines]


@pytest.mark.parametrize("fact", FACTS, ids=lambda fact: f"{fact.file}-{fact.text[:20]}")
def test_the_fact_stands_in_one_chunk(fact: Fact) -> None:
    found = [
        draft
        for draft in drafts(fact.file)
        if fact.text in draft.text
        and fact.embedded in draft.text_for_embedding
        and fact.url in draft.source_url
        and (not fact.page or draft.metadata["page"] == fact.page)
    ]
    assert found


@pytest.mark.parametrize("name", manifest())
def test_every_file_gives_chunks_or_a_reason(name: str) -> None:
    if name in REASONS:
        with pytest.raises(UnreadableError, match=re.escape(REASONS[name])):
            parsed(name)
        return
    assert any(fact.file == name for fact in FACTS)
    for draft in drafts(name):
        assert draft.text.strip()
        assert draft.section_heading
        assert WordTokenizer().count(draft.text_for_embedding) <= RULES.total_tokens


@pytest.mark.parametrize("name", ABSENT)
def test_scripts_menus_and_hidden_text_are_left_out(name: str) -> None:
    everything = "\n".join(draft.text for draft in drafts(name))
    assert [words for words in ABSENT[name] if words in everything] == []
    assert sum(parsed(name).dropped.values()) > 0


def test_pages_of_llms_full_begin_at_delimiters_only() -> None:
    text = (FOLDER / "files" / "claude-docs__llms-full.txt").read_text(encoding="utf-8")
    documents = parsed("claude-docs__llms-full.txt").documents
    assert len(documents) == len(re.findall(r"^Source: https?://", text, flags=re.MULTILINE))


def test_the_soft_404_is_one_page() -> None:
    first = parsed("anthropic-docs__home.md").documents[0].text
    second = parsed("anthropic-docs__n_nWhen.md").documents[0].text
    assert first != second
    assert page_key(first) == page_key(second)


def test_fences_of_the_specification_are_not_cut_and_their_hashes_are_no_headings() -> None:
    headings = {draft.section_heading for draft in drafts("commonmark-spec__spec.txt")}
    assert "foo" not in headings
    for draft in drafts("commonmark-spec__spec.txt"):
        if len(draft.text) < 500:
            assert draft.text.count("`" * 32) % 2 == 0
