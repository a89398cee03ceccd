"""``vouch profiles``: which ways to build and to search there are, and what each is for."""

from __future__ import annotations

from pydantic import BaseModel
from rich.table import Table
from rich.text import Text

from cli.console import out, print_json
from retrieval.profiles import Profile, load_profiles, profile_named
from retrieval.settings import RetrievalSettings


def run_profiles(name: str, *, as_json: bool) -> None:
    """List every profile, or explain one with all its values.

    Raises:
        SettingsError: The file of profiles is malformed.
        BadRequestError: There is no profile of that name.
    """
    settings = RetrievalSettings()
    profiles = load_profiles(settings.profiles_file, settings.environment)
    chosen = {name: profile_named(profiles, name)} if name else profiles
    if as_json:
        bodies = {each: profile.model_dump(mode="json") for each, profile in chosen.items()}
        print_json({"in_force": settings.profile, "profiles": bodies})
        return
    out.print(_values(chosen[name]) if name else _listing(chosen, settings.profile))


def _listing(profiles: dict[str, Profile], in_force: str) -> Table:
    table = Table(box=None, header_style="bold", pad_edge=False, padding=(0, 2, 1, 0))
    for heading in ("", "profile", "models", "search", "what it is for"):
        table.add_column(heading)
    for name, profile in profiles.items():
        mark = "*" if name == in_force else ""
        table.add_row(
            mark, Text(name, style="bold"), _models(profile), _search(profile), profile.summary
        )
    return table


def _models(profile: Profile) -> str:
    parts = profile.ingestion
    late = parts.late_interaction
    names = [parts.embedder.model, parts.sparse.model, late.model if late else ""]
    return "\n".join(name.rpartition("/")[2] for name in names if name)


def _search(profile: Profile) -> str:
    search = profile.search
    weights = [search.dense_weight, search.sparse_weight]
    weights += [weight for weight in (search.part_weight, search.late_weight) if weight]
    lines = [f"{search.fusion} {'/'.join(f'{weight:g}' for weight in weights)}"]
    lines.append(f"{search.candidates} a list")
    if search.reranker:
        lines.append(f"rerank {search.reranker.model.rpartition('/')[2]}")
    return "\n".join(lines)


def _values(profile: Profile) -> Table:
    table = Table(box=None, header_style="bold", pad_edge=False)
    for heading in ("setting", "value", "meaning"):
        table.add_column(heading)
    _add(table, profile, "")
    return table


def _add(table: Table, part: BaseModel, prefix: str) -> None:
    for name, field in type(part).model_fields.items():
        value: object = getattr(part, name)
        if isinstance(value, BaseModel):
            _add(table, value, f"{prefix}{name}.")
        else:
            shown = "-" if value is None else str(value)
            table.add_row(f"{prefix}{name}", shown, field.description or "")
