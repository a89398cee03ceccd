"""Builds on a Qdrant server or cluster: one collection each, published by an alias.

Manifests and term statistics are points of a small collection beside the builds, so that every
machine that reads the server can open what it serves.
"""

from __future__ import annotations

import base64
import uuid
from collections.abc import Callable
from datetime import UTC, datetime, timedelta

from qdrant_client import AsyncQdrantClient, models
from qdrant_client.conversions.common_types import PointId

from retrieval.catalog import BuildWriter, OpenedBuild, new_build_name
from retrieval.errors import IndexUnavailableError
from retrieval.manifest import Manifest, Stamp
from retrieval.statistics import TermStatistics
from retrieval.store_qdrant import QdrantStore, translated

_PART_BYTES = 1 << 20
_GRPC_PORT = 6334
_PAGE = 64
# No run takes longer; what is older and has no manifest was left behind by one that died.
_LEFTOVER_AFTER = timedelta(hours=48)


def connect(
    url: str,
    api_key: str,
    collection: str,
    *,
    timeout_seconds: int,
    grpc_port: int | None = None,
) -> QdrantBuildCatalog:
    """Return the catalogue of a server; nothing is sent yet.

    Args:
        url: Of its HTTP interface.
        api_key: Empty for none.
        collection: Name of the alias that readers follow.
        timeout_seconds: Deadline of one call.
        grpc_port: Speak gRPC to this port where the client can; None: HTTP alone.
    """
    client = AsyncQdrantClient(
        url=url,
        api_key=api_key or None,
        timeout=timeout_seconds,
        check_compatibility=False,
        prefer_grpc=grpc_port is not None,
        grpc_port=grpc_port or _GRPC_PORT,
    )
    return QdrantBuildCatalog(client, collection)


class QdrantBuildCatalog:
    """The builds of one collection on a server.

    Args:
        client: Owned from here on; ``close`` closes it.
        collection: Name of the alias that readers follow.
        indexed: Make payload indexes; the in-memory client has none and warns.
        now: Present time, for tests.
    """

    def __init__(
        self,
        client: AsyncQdrantClient,
        collection: str,
        *,
        indexed: bool = True,
        now: Callable[[], datetime] = lambda: datetime.now(UTC),
    ) -> None:
        self._client = client
        self._alias = collection
        self._prefix = f"{collection}--"
        self._meta = f"{collection}--builds"
        self._indexed = indexed
        self._now = now

    async def create(self, stamp: Stamp, profile: str) -> BuildWriter:
        """Begin a new build, which nobody sees until it is finished and published."""
        build = new_build_name(self._now())
        store = await QdrantStore.create(
            self._client,
            self._prefix + build,
            stamp.dimension,
            late_dimension=stamp.late_dimension,
            has_parts=bool(stamp.parts),
            indexed=self._indexed,
        )
        return BuildWriter(build, store, self, stamp, profile)

    async def pointer(self) -> str:
        """Return the name of the build in force, empty when there is none."""
        with translated("the server cannot be reached"):
            aliases = (await self._client.get_aliases()).aliases
        for alias in aliases:
            if alias.alias_name == self._alias:
                return alias.collection_name.removeprefix(self._prefix)
        return ""

    async def current(self) -> Manifest | None:
        """Return the build in force."""
        build = await self.pointer()
        return await self._manifest(build) if build else None

    async def list(self) -> tuple[Manifest, ...]:
        """Return every complete build, newest first."""
        if not await self._has_meta():
            return ()
        found = [
            Manifest.model_validate_json(str((record.payload or {})["json"]))
            for record in await self._meta_records("manifest", None)
        ]
        return tuple(sorted(found, key=lambda manifest: manifest.build, reverse=True))

    async def open(self, build: str) -> OpenedBuild:
        """Open a complete build for reading; any number of processes can."""
        manifest = await self._manifest(build)
        parts = sorted(
            (int(str((r.payload or {})["part"])), str((r.payload or {})["data"]))
            for r in await self._meta_records("statistics", build)
        )
        try:
            content = b"".join(base64.b64decode(data) for _, data in parts)
            statistics = TermStatistics.from_bytes(content)
        except (ValueError, KeyError) as error:
            raise IndexUnavailableError(f"build {build} is damaged: {error}") from error
        store = QdrantStore(
            self._client, self._prefix + build, manifest.stamp.dimension, statistics.accesses
        )
        return OpenedBuild(manifest, statistics, store)

    async def rollback(self) -> Manifest:
        """Put the newest complete build older than the one in force back in force."""
        current = await self.pointer()
        older = next((m for m in await self.list() if m.build < current), None)
        if older is None:
            raise IndexUnavailableError("there is no older build to go back to")
        await self.publish(older.build)
        return older

    async def gc(self, keep: int) -> tuple[str, ...]:
        """Remove old leftovers, and complete builds beyond the newest ``keep``."""
        current = await self.pointer()
        complete = [manifest.build for manifest in await self.list()]
        kept = {current, *complete[:keep]}
        oldest_alive = f"{self._now() - _LEFTOVER_AFTER:%Y%m%dT%H%M%S}"
        removed: list[str] = []
        for build in await self._collections():
            if build in kept or (build not in complete and build >= oldest_alive):
                continue
            await self.discard(build)
            removed.append(build)
        return tuple(removed)

    async def close(self) -> None:
        """Close the client."""
        await self._client.close()

    async def keep(self, manifest: Manifest, statistics: TermStatistics) -> None:
        """Make the build complete: statistics first, the manifest last."""
        if not await self._has_meta():
            with translated("the server refuses the manifest"):
                await self._client.create_collection(self._meta, vectors_config={})
        content = statistics.to_bytes()
        for part, start in enumerate(range(0, len(content), _PART_BYTES)):
            data = base64.b64encode(content[start : start + _PART_BYTES]).decode()
            await self._put("statistics", manifest.build, part, {"part": part, "data": data})
        await self._put("manifest", manifest.build, 0, {"json": manifest.model_dump_json()})

    async def publish(self, build: str) -> None:
        """Point the alias at the build, in one atomic step."""
        await self._manifest(build)
        create = models.CreateAliasOperation(
            create_alias=models.CreateAlias(
                collection_name=self._prefix + build, alias_name=self._alias
            )
        )
        delete = models.DeleteAliasOperation(
            delete_alias=models.DeleteAlias(alias_name=self._alias)
        )
        operations = [delete, create] if await self.pointer() else [create]
        with translated("the server refuses to publish"):
            await self._client.update_collection_aliases(operations)

    async def discard(self, build: str) -> None:
        """Remove a build, its manifest first, so that it is never listed without its points."""
        await self._forget(build)
        with translated(f"build {build} cannot be removed"):
            await self._client.delete_collection(self._prefix + build)

    async def _collections(self) -> list[str]:
        with translated("the server cannot be reached"):
            collections = (await self._client.get_collections()).collections
        return sorted(
            c.name.removeprefix(self._prefix)
            for c in collections
            if c.name.startswith(self._prefix) and c.name != self._meta
        )

    async def _has_meta(self) -> bool:
        with translated("the server cannot be reached"):
            return await self._client.collection_exists(self._meta)

    async def _manifest(self, build: str) -> Manifest:
        records = await self._meta_records("manifest", build) if await self._has_meta() else []
        if not records:
            raise IndexUnavailableError(
                f"there is no complete build {build!r} of {self._alias}; run `vouch ingest`"
            )
        return Manifest.model_validate_json(str((records[0].payload or {})["json"]))

    async def _meta_records(self, kind: str, build: str | None) -> list[models.Record]:
        found: list[models.Record] = []
        offset: PointId | None = None
        with translated("the builds cannot be listed"):
            while True:
                page, offset = await self._client.scroll(
                    self._meta, scroll_filter=_of(kind, build), limit=_PAGE, offset=offset
                )
                found += page
                if offset is None:
                    return found

    async def _put(self, kind: str, build: str, part: int, content: dict[str, object]) -> None:
        point = models.PointStruct(
            id=str(uuid.uuid5(uuid.NAMESPACE_URL, f"{kind}/{build}/{part}")),
            vector={},
            payload={"kind": kind, "build": build, **content},
        )
        with translated("the server refuses the manifest"):
            await self._client.upsert(self._meta, [point], wait=True)

    async def _forget(self, build: str) -> None:
        if await self._has_meta():
            with translated(f"build {build} cannot be removed"):
                for kind in ("manifest", "statistics"):
                    await self._client.delete(
                        self._meta, models.FilterSelector(filter=_of(kind, build)), wait=True
                    )


def _of(kind: str, build: str | None) -> models.Filter:
    wanted = {"kind": kind} if build is None else {"kind": kind, "build": build}
    return models.Filter(
        must=[
            models.FieldCondition(key=key, match=models.MatchValue(value=value))
            for key, value in wanted.items()
        ]
    )
