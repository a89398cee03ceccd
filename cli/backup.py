"""``vouch backup`` and ``vouch restore``: index, databases, calibrations, uploads and secrets.

A backup is a folder: a dump of each database in a form of its own, the complete builds of an
embedded index with the pointer, and ``backup.json``, written last, which makes it a backup.
"""

from __future__ import annotations

import json
import os
import shutil
from collections.abc import Mapping
from datetime import UTC, datetime
from pathlib import Path

from cli.console import out
from cli.migrate import database_urls
from cli.settings import UpSettings
from service.errors import VouchError
from service.health import installed_version
from storage.dump import dump, load

_LABEL = "backup.json"
_BUILDS = "collections"
# Beside the index: what builds were made from, what was uploaded, records that wait, keys.
_FOLDERS = ("records", "uploads", "spool")
_SECRETS = "secrets.json"
_COMPLETE = "manifest.json"


class BackupError(VouchError):
    """A folder is no backup, or not empty where it has to be."""

    code = "backup_failed"


def run_backup(settings: UpSettings, folder: Path) -> None:
    """Write a backup into a new folder; everything may go on running.

    Raises:
        BackupError: The folder is there already.
        StorageError: A database cannot be read.
    """
    if folder.exists():
        raise BackupError(f"{folder} is there already: a backup is a folder of its own")
    draft = folder.with_name(f"{folder.name}.unfinished")
    shutil.rmtree(draft, ignore_errors=True)
    draft.mkdir(parents=True)
    draft.chmod(0o700)
    rows = {name: dict(dump(url, draft / f"{name}.jsonl.gz")) for name, url in _databases(settings)}
    builds = _copy_builds(settings.data_dir / _BUILDS, draft / _BUILDS)
    for name in _FOLDERS:
        if (settings.data_dir / name).is_dir():
            shutil.copytree(settings.data_dir / name, draft / name)
    if (settings.data_dir / _SECRETS).is_file():
        shutil.copy2(settings.data_dir / _SECRETS, draft / _SECRETS)
    label = {
        "created_at": datetime.now(UTC).isoformat(timespec="seconds"),
        "version": installed_version(),
        "rows": rows,
        "builds": builds,
    }
    (draft / _LABEL).write_text(json.dumps(label, indent=2), encoding="utf-8")
    draft.rename(folder)
    _say(folder, rows, builds)


def run_restore(settings: UpSettings, folder: Path) -> None:
    """Put a backup into an empty data folder and empty databases, with everything stopped.

    Raises:
        BackupError: The folder is no backup, or there is an index already.
        StorageError: A database is not empty, or cannot be written.
    """
    label = _read_label(folder)
    if (settings.data_dir / _BUILDS).exists():
        raise BackupError(
            f"there is an index in {settings.data_dir} already: restore into a new one"
        )
    settings.data_dir.mkdir(parents=True, exist_ok=True)
    names = _dumps_for(folder, dict(_databases(settings)))
    rows = {name: dict(load(url, path)) for name, url, path in names}
    for name in (_BUILDS, *_FOLDERS):
        if (folder / name).is_dir():
            shutil.copytree(folder / name, settings.data_dir / name, dirs_exist_ok=True)
    secrets = settings.data_dir / _SECRETS
    if (folder / _SECRETS).is_file() and not secrets.exists():
        shutil.copy2(folder / _SECRETS, secrets)
    _say(settings.data_dir, rows, [str(build) for build in label["builds"]])


def _databases(settings: UpSettings) -> list[tuple[str, str]]:
    """Return name and address of each: the first holds the records, a second one the audit."""
    return list(zip(("vouch", "audit"), database_urls(settings), strict=False))


def _dumps_for(folder: Path, urls: Mapping[str, str]) -> list[tuple[str, str, Path]]:
    """Return which dump goes where: as many databases are needed as were backed up."""
    dumps = {path.name.removesuffix(".jsonl.gz"): path for path in folder.glob("*.jsonl.gz")}
    if set(dumps) != set(urls):
        raise BackupError(
            f"the backup holds {', '.join(sorted(dumps))} and here are {', '.join(sorted(urls))}: "
            "with a database server there is one, with files in the data folder there are two"
        )
    return [(name, urls[name], dumps[name]) for name in urls]


def _copy_builds(source: Path, target: Path) -> list[str]:
    """Copy pointers and complete builds; what a run is writing now is left out."""
    copied: list[str] = []
    for pointer in sorted(source.glob("*/current")):
        collection = target / pointer.parent.name
        collection.mkdir(parents=True)
        # The pointer first: the build it names is not removed while newer ones are kept.
        shutil.copy2(pointer, collection / pointer.name)
        for build in sorted((pointer.parent / "builds").iterdir()):
            if (build / _COMPLETE).is_file():
                shutil.copytree(build, collection / "builds" / build.name)
                copied.append(f"{pointer.parent.name}/{build.name}")
    return copied


def _read_label(folder: Path) -> dict[str, list[object]]:
    try:
        return json.loads((folder / _LABEL).read_text(encoding="utf-8"))
    except (OSError, ValueError) as error:
        raise BackupError(f"{folder} is no backup: {error}") from error


def _say(place: Path, rows: Mapping[str, Mapping[str, int]], builds: list[str]) -> None:
    total = sum(sum(tables.values()) for tables in rows.values())
    out.print(f"{place}: {total} rows, {len(builds)} builds")
    if not builds and os.environ.get("QDRANT_URL"):
        out.print("The index is on a Qdrant server: keep it with the server's own snapshots.")
