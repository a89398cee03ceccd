"""Texts that compression is tried on, written and made up."""

from __future__ import annotations

from hypothesis import strategies as st

LIMITS = """# Rate limits

The API accepts 60 requests a minute for each key [1]. A key is made in the console. Requests over
the limit are answered with status 429 and a Retry-After header [2].

| plan | requests | burst |
|------|----------|-------|
| free | 60       | 10    |
| team | 600      | 100   |

```python
client = Client(max_retries=3)
client.send("hello")
```

Support answers within a day. The team writes every weekday, and the office is in Lisbon.
"""

_WORDS = st.one_of(
    st.sampled_from(["the", "limit", "of", "requests", "is set", "by", "plan_id", "or", "429"]),
    st.sampled_from(
        ["MAX_RETRIES", "[3]", "60 seconds", "`x = 1`", "naïve", "時間", "e.g.", "v2.1"]
    ),
    st.sampled_from(["https://docs.example/a_b.html", "a-b", "means wait"]),
)
_SENTENCE = st.lists(_WORDS, min_size=1, max_size=14).map(lambda words: " ".join(words) + ".")
_PARAGRAPH = st.lists(_SENTENCE, min_size=1, max_size=5).map(" ".join)
_CODE = st.lists(_WORDS, min_size=1, max_size=6).map(lambda words: f"```\n{' '.join(words)}\n```")
_TABLE = st.lists(_WORDS, min_size=2, max_size=6).map(
    lambda words: "\n".join(f"| {word} | value |" for word in words)
)
_HEADING = st.lists(_WORDS, min_size=1, max_size=4).map(lambda words: "## " + " ".join(words))

PASSAGES = st.lists(
    st.lists(
        st.one_of(_PARAGRAPH, _PARAGRAPH, _CODE, _TABLE, _HEADING), min_size=1, max_size=5
    ).map("\n\n".join),
    min_size=1,
    max_size=4,
)
"""Passages of documentation made up of paragraphs, code, tables and headings."""
