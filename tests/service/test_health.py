"""Health and metrics documents."""

from __future__ import annotations

from prometheus_client import Counter

from service.health import Check, describe_health
from service.metrics import open_registry, render_metrics


def test_the_document_is_as_bad_as_its_worst_check() -> None:
    ok, slow, gone = Check(status="ok"), Check(status="degraded"), Check(status="down")
    assert describe_health("p", version="1", checks={}).status == "ok"
    assert describe_health("p", version="1", checks={"a": ok, "b": slow}).status == "degraded"
    assert describe_health("p", version="1", checks={"a": gone, "b": slow}).status == "down"


def test_each_registry_holds_its_own_numbers() -> None:
    one, two = open_registry("api", version="1"), open_registry("mcp", version="1")
    Counter("asks", "Asks.", registry=one).inc()
    first, content_type = render_metrics(one)
    second, _ = render_metrics(two)
    assert b"asks_total 1.0" in first
    assert b"asks_total" not in second
    assert b'vouch_process_info{process="mcp",version="1"} 1.0' in second
    assert content_type.startswith("text/plain")
