from __future__ import annotations

from agent.units import split_sentences, split_units
from prose.blocks import mask_hidden

REST = """Mapping Types
*************

class dict(**kwargs)
class dict(mapping, **kwargs)

   Return a new dictionary.  Dictionaries can be created by several
   means:

   * Use braces: "{'jack': 4098}"

   * Use the type constructor

   To illustrate, the following are equal:

      >>> a = dict(one=1)

      >>> b = {'one': 1}

   d[key]

      Return the item of *d* with key *key*.

Dictionaries preserve insertion order.
"""
GRID = """
+-----------+----------------+
| Operator  | Description    |
|===========|================|
| "|"       | Bitwise OR, a  |
|           | binary one     |
+-----------+----------------+
| "&"       | Bitwise AND    |
+-----------+----------------+
"""


def test_a_definition_keeps_its_signature_and_a_list_its_items() -> None:
    units = split_units(REST)
    assert units[0].text == "Return a new dictionary."
    assert units[0].names.signature.startswith("class dict(**kwargs)")
    assert units[0].names.heading == "Mapping Types"
    lead = units[1]
    assert lead.companion is not None
    assert lead.companion.parts == ("Use braces: \"{'jack': 4098}\"", "Use the type constructor")


def test_code_belongs_to_the_sentence_before_it_blank_lines_included() -> None:
    lead = next(unit for unit in split_units(REST) if unit.text.startswith("To illustrate"))
    assert lead.companion is not None
    assert lead.companion.kind == "code"
    assert "b = {'one': 1}" in lead.companion.parts[0]
    assert all(unit.kind == "sentence" for unit in split_units(REST))


def test_a_signature_ends_where_the_indent_does() -> None:
    units = split_units(REST)
    inner = next(unit for unit in units if unit.text.startswith("Return the item"))
    assert inner.names.signature == "d[key]"
    assert units[-1].text == "Dictionaries preserve insertion order."
    assert units[-1].names.signature == ""


def test_table_rows_carry_their_header_and_wrapped_cells_are_joined() -> None:
    rows = split_units(GRID)
    assert [row.kind for row in rows] == ["row", "row"]
    assert rows[0].text == 'Operator: "|"; Description: Bitwise OR, a binary one'
    markdown = "| Name | Default |\n|---|---|\n| `VOUCH_PORT` | 8000 |\n"
    assert [row.text for row in split_units(markdown)] == ["Name: `VOUCH_PORT`; Default: 8000"]


def test_the_rest_of_a_table_cut_by_chunking_is_not_quoted() -> None:
    assert split_units("version 3.3.          |                      |\n+-----+-----+\n") == []


def test_sentences_end_where_a_reader_ends_them() -> None:
    text = (
        "Use a tool, e.g. Docker. (It is shared by all calls.) Then see Fig. 3 by J. Doe."
        ' The "except*" clauses handle "ExceptionGroup"s. `a. B` stays.'
    )
    assert split_sentences(text) == [
        "Use a tool, e.g. Docker.",
        "(It is shared by all calls.)",
        "Then see Fig. 3 by J. Doe.",
        'The "except*" clauses handle "ExceptionGroup"s.',
        "`a. B` stays.",
    ]


def test_hard_line_ends_are_undone_without_changing_words() -> None:
    units = split_units("The built-\nin function\nreturns it.  Next one.")
    assert [unit.text for unit in units] == ["The built-in function returns it.", "Next one."]


def test_what_a_rendered_page_hides_is_never_quoted() -> None:
    text = (
        "Shown before. <!-- Hidden order. -->\n"
        '<span style="display:none">Hidden too.</span> Shown after.'
    )
    assert len(mask_hidden(text)) == len(text)
    assert [unit.text for unit in split_units(text)] == ["Shown before.", "Shown after."]


def test_a_hash_inside_a_fence_is_code() -> None:
    units = split_units("Run this:\n\n```sh\n# comment\nmake run\n```\n")
    assert len(units) == 1
    assert units[0].companion is not None
    assert "# comment" in units[0].companion.parts[0]


def test_statements_are_code_and_a_list_skips_what_is_nested_in_it() -> None:
    text = (
        "The form is equivalent to:\n\n   if __debug__:\n       if not x: raise AssertionError\n\n"
        "It proceeds as follows:\n\n1. The first step.\n\n   A remark on it.\n\n2. The second.\n"
    )
    units = split_units(text)
    assert units[0].companion is not None
    assert units[0].companion.kind == "code"
    assert units[1].companion is not None
    assert units[1].companion.parts == ("The first step.", "The second.")
