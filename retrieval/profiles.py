"""Named profiles: how documents are cut and embedded, and how a query is answered from them.

One YAML file holds them all. ``${NAME}`` and ``${NAME:-default}`` inside a value are replaced from
the environment; everything is checked when the file is read, and an error names its place.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from importlib import resources
from pathlib import Path
from typing import Literal, cast

import yaml
from pydantic import BaseModel, ConfigDict, Field, ValidationError

from retrieval.errors import BadRequestError
from retrieval.fusion import FusionName
from retrieval.models import DEFAULT_MODEL
from service.errors import SettingsError

ChunkerName = Literal["structural", "sentence", "semantic", "recursive"]

_VARIABLE = re.compile(r"\$\{([A-Za-z_][A-Za-z0-9_]*)(?::-([^}]*))?\}")
_PACKAGED = "profiles.yaml"


class _Part(BaseModel):
    model_config = ConfigDict(frozen=True, extra="forbid")


class RerankerProfile(_Part):
    """A second look at the fused head."""

    model: str = Field(
        min_length=1, description="A directory, a fastembed name, or an address ending in /rerank."
    )
    candidates: int = Field(default=50, ge=1, le=200, description="Passages that go in.")
    top_n: int = Field(
        default=0, ge=0, le=50, description="Most passages that come out; 0: as many as asked for."
    )
    timeout_seconds: float = Field(default=5.0, gt=0.0, le=120.0)


class SearchProfile(_Part):
    """How a query is answered from a build."""

    candidates: int = Field(default=50, ge=1, le=1000, description="Most of each list.")
    fusion: FusionName = Field(default="zscore", description="What orders the candidates.")
    dense_weight: float = Field(default=0.5, ge=0.0, le=1.0)
    sparse_weight: float = Field(default=0.5, ge=0.0, le=1.0)
    late_weight: float = Field(
        default=0.0, ge=0.0, le=1.0, description="Of late interaction; needs a build that has it."
    )
    part_weight: float = Field(
        default=0.0, ge=0.0, le=1.0, description="Of the nearest part; needs a build that has them."
    )
    rrf_k: int = Field(default=60, ge=1, le=1000)
    dense_floor_cosine: float | None = Field(
        default=None, ge=-1.0, le=1.0, description="Below it a dense candidate is not fused."
    )
    sparse_floor: float | None = Field(
        default=None, ge=0.0, description="Below it a sparse candidate is not fused."
    )
    reranker: RerankerProfile | None = None
    near_duplicate_cosine: float = Field(
        default=0.9, ge=0.0, le=2.0, description="Hits at or above it repeat each other; 2: off."
    )
    source_cap: int = Field(default=0, ge=0, le=50, description="Hits of one source; 0: no cap.")

    def most_hits(self, top_k: int) -> int:
        """Return how many hits a request for ``top_k`` is given."""
        most = self.reranker.top_n if self.reranker else 0
        return min(top_k, most) if most else top_k


class ChunkerProfile(_Part):
    """How documents are cut, in the embedding model's own tokens."""

    name: ChunkerName = "structural"
    target_tokens: int = Field(
        default=0, ge=0, le=8192, description="Longest body; 0: what suits the model."
    )
    overlap_tokens: int = Field(
        default=-1, ge=-1, le=2048, description="Repeated at a cut; -1: the chunker's own."
    )


class PartsProfile(_Part):
    """What of a passage is embedded once more, a few sentences at a time."""

    target_tokens: int = Field(ge=8, le=8192, description="Longest part.")
    overlap_tokens: int = Field(default=0, ge=0, le=2048, description="Repeated at a cut.")


class EmbedderProfile(_Part):
    """The dense model."""

    model: str = Field(
        default=DEFAULT_MODEL,
        min_length=1,
        description="A directory, a packaged or fastembed name.",
    )
    cut_dimension: int = Field(
        default=0,
        ge=0,
        le=8192,
        description="Keep the first so many numbers, renormalised; 0: all.",
    )


class SparseProfile(_Part):
    """The sparse encoder: ``bm25`` is our own, other names and directories are fastembed's."""

    model: str = Field(default="bm25", min_length=1)
    k1: float = Field(default=1.6, ge=0.0, le=10.0)
    b: float = Field(default=0.75, ge=0.0, le=1.0)


class LateProfile(_Part):
    """A late-interaction model: one vector per token, compared by the best match of each."""

    model: str = Field(min_length=1, description="A directory or a fastembed name.")
    dimension: int = Field(ge=1, le=4096)


class IngestionProfile(_Part):
    """What goes into a build; a reader must use the same models."""

    parser: Literal["auto"] = "auto"
    chunker: ChunkerProfile = ChunkerProfile()
    parts: PartsProfile | None = None
    embedder: EmbedderProfile = EmbedderProfile()
    sparse: SparseProfile = SparseProfile()
    late_interaction: LateProfile | None = None


class Profile(_Part):
    """One named way to build and to search."""

    summary: str = Field(min_length=1, description="What it is for, in a sentence or two.")
    ingestion: IngestionProfile = IngestionProfile()
    search: SearchProfile = SearchProfile()


def load_profiles(path: Path | None, environment: Mapping[str, str]) -> dict[str, Profile]:
    """Read every profile of a file.

    Args:
        path: The file; None means the packaged one.
        environment: Values for ``${NAME}``.

    Raises:
        SettingsError: The file cannot be read, a variable has no value, or a value is not allowed.
    """
    name = str(path) if path else f"the packaged {_PACKAGED}"
    try:
        source = path or resources.files("retrieval").joinpath(_PACKAGED)
        content: object = yaml.safe_load(source.read_text(encoding="utf-8"))
    except (OSError, UnicodeDecodeError, yaml.YAMLError) as error:
        raise SettingsError(f"{name} cannot be read: {error}") from error
    if not isinstance(content, dict) or not content:
        raise SettingsError(f"{name} must map names to profiles")
    entries = cast("dict[object, object]", content)
    return {
        str(key): _profile(f"{name}: {key}", _substituted(value, environment, f"{name}: {key}"))
        for key, value in entries.items()
    }


def packaged_search() -> SearchProfile:
    """Return how the packaged default profile searches."""
    return load_profiles(None, {})["default"].search


def profile_named(profiles: Mapping[str, Profile], name: str) -> Profile:
    """Return one profile.

    Raises:
        BadRequestError: There is none of that name; says which there are.
    """
    if name not in profiles:
        raise BadRequestError(f"unknown profile {name!r}; known are {', '.join(sorted(profiles))}")
    return profiles[name]


def _profile(place: str, value: object) -> Profile:
    try:
        return Profile.model_validate(value)
    except ValidationError as error:
        problems = "; ".join(
            f"{'.'.join(str(step) for step in problem['loc']) or 'the profile'}: {problem['msg']}"
            for problem in error.errors()
        )
        raise SettingsError(f"{place}: {problems}") from error


def _substituted(value: object, environment: Mapping[str, str], place: str) -> object:
    if isinstance(value, dict):
        entries = cast("dict[object, object]", value)
        return {k: _substituted(v, environment, f"{place}.{k}") for k, v in entries.items()}
    if isinstance(value, list):
        items = cast("list[object]", value)
        return [_substituted(v, environment, f"{place}[{n}]") for n, v in enumerate(items)]
    if not isinstance(value, str):
        return value

    def replaced(match: re.Match[str]) -> str:
        name, default = match.group(1), match.group(2)
        found = environment.get(name, "") or default
        if found is None:
            raise SettingsError(f"{place}: the variable {name} is not set and has no default")
        return found

    return _VARIABLE.sub(replaced, value)
