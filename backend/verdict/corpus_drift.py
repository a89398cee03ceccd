"""How far the index in force is from the one a calibration was made on.

The tool server compares sketches of chunk ids; the answer is asked for once per calibration and
build, because neither changes.
"""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Sequence
from typing import Protocol

from backend.verdict.calibration import DriftCheck
from backend.verdict.calibration_artefact import CalibrationStamp
from knowledge.contracts import ContentChange, IndexInfo
from knowledge.errors import KnowledgeError
from service.logs import get_logger

_logger = get_logger(__name__)
_KEPT = 16


class Comparer(Protocol):
    """Compares the build in force with a sketch of another."""

    async def compare(self, sketch: Sequence[int]) -> ContentChange:
        """Return the share of chunks in which they differ."""
        ...


class CorpusDrift:
    """Remembers how far builds are from calibrations.

    Args:
        comparer: The tool server.
    """

    def __init__(self, comparer: Comparer) -> None:
        self._comparer = comparer
        self._known: OrderedDict[tuple[str, str], DriftCheck] = OrderedDict()

    async def check(self, stamp: CalibrationStamp, index: IndexInfo) -> DriftCheck | None:
        """Return the change of content since the calibration.

        None when there is nothing to compare: equal content, a calibration without a sketch, or a
        tool server that cannot say. What remains then is the difference in the number of chunks.
        """
        if not stamp.sketch or stamp.content_digest == index.content_digest:
            return None
        key = (stamp.content_digest, index.build)
        if key not in self._known:
            try:
                change = await self._comparer.compare(stamp.sketch)
            except KnowledgeError as error:
                _logger.warning("builds cannot be compared", detail=str(error))
                return None
            if change.build != index.build:
                return None
            self._known[key] = DriftCheck(change.build, change.changed_share, passed=True)
            while len(self._known) > _KEPT:
                self._known.popitem(last=False)
        return self._known[key]
