"""Whether the process lives, whether what it depends on answers, and its metrics."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable

from fastapi import APIRouter
from fastapi.responses import JSONResponse, Response

from backend.api.ask import ServicesHere
from backend.services import Services
from service.errors import VouchError
from service.health import Check, HealthDocument, describe_health, installed_version
from service.metrics import render_metrics

router = APIRouter(tags=["operation"])

_CHECK_SECONDS = 3.0


@router.get("/healthz")
async def show_alive() -> HealthDocument:
    """Say that the process lives; it asks nothing else."""
    return describe_health("api", version=installed_version(), checks={})


@router.get("/readyz", response_model=HealthDocument, responses={503: {"model": HealthDocument}})
async def show_ready(services: ServicesHere) -> Response:
    """Say whether everything the process depends on answers, with reasons."""
    knowledge, database, guard = await asyncio.gather(
        _check(services.knowledge.ping()),
        _check(services.database.ping()),
        _check_guard(services),
    )
    document = describe_health(
        "api",
        version=installed_version(),
        checks={
            "knowledge": knowledge,
            "database": database,
            "guard": guard,
            **services.circuits.checks(),
        },
    )
    status = 503 if document.status == "down" else 200
    return JSONResponse(document.model_dump(mode="json"), status)


@router.get("/metrics", include_in_schema=False)
async def show_metrics(services: ServicesHere) -> Response:
    """Return the metrics for a scraper."""
    await services.gauges.refresh()
    await services.queue_gauges.refresh()
    body, media_type = render_metrics(services.registry)
    return Response(body, media_type=media_type)


async def _check(answer: Awaitable[None]) -> Check:
    try:
        async with asyncio.timeout(_CHECK_SECONDS):
            await answer
    except TimeoutError:
        return Check(status="down", detail="did not answer in time")
    except VouchError as error:
        return Check(status="down", detail=str(error))
    return Check(status="ok")


async def _check_guard(services: Services) -> Check:
    try:
        async with asyncio.timeout(_CHECK_SECONDS):
            rule = await services.rules.rule_for(await services.index.current())
    except (TimeoutError, VouchError) as error:
        return Check(status="down", detail=f"no index to judge on: {error}")
    if rule.degraded:
        return Check(status="degraded", detail=", ".join(rule.degraded))
    return Check(status="ok", detail=rule.state or "fixed threshold")
