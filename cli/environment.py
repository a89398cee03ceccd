"""Which environment variables each process is given: those of its own settings, and no others.

That the API cannot reach the index and the tool server cannot reach a model is a matter of what is
in their environment, not of what their code happens to do.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping

from pydantic import AliasChoices
from pydantic.fields import FieldInfo
from pydantic_settings import BaseSettings

_SYSTEM = frozenset(
    {
        "PATH", "HOME", "USER", "LANG", "LC_ALL", "LC_CTYPE", "TZ", "TMPDIR", "TERM", "COLUMNS",
        "NO_COLOR", "FORCE_COLOR", "VIRTUAL_ENV", "PYTHONPATH", "PYTHONUNBUFFERED",
        "SSL_CERT_FILE", "SSL_CERT_DIR", "OPENBLAS_CORETYPE", "OPENBLAS_L2_SIZE",
        "OMP_NUM_THREADS", "SYSTEMROOT",
    }
)  # fmt: skip


def names_of_field(settings: type[BaseSettings], name: str) -> frozenset[str]:
    """Return the environment variables that set one field."""
    prefix = str(settings.model_config.get("env_prefix", ""))
    return frozenset(_aliases(settings.model_fields[name]) or {f"{prefix}{name}".upper()})


def variables_of(settings: type[BaseSettings]) -> frozenset[str]:
    """Return the environment variables a settings class reads, in upper case."""
    return frozenset[str]().union(
        *(names_of_field(settings, name) for name in settings.model_fields)
    )


def environment_for(
    settings: Iterable[type[BaseSettings]], full: Mapping[str, str]
) -> dict[str, str]:
    """Return the part of an environment that a process with these settings is given.

    Args:
        settings: Every settings class the process reads.
        full: Everything that is set: the shell's variables over those of ``.env``.
    """
    allowed = _SYSTEM.union(*(variables_of(one) for one in settings))
    return {name: value for name, value in full.items() if name.upper() in allowed}


def _aliases(field: FieldInfo) -> set[str]:
    alias = field.validation_alias
    if isinstance(alias, str):
        return {alias.upper()}
    if isinstance(alias, AliasChoices):
        return {choice.upper() for choice in alias.choices if isinstance(choice, str)}
    return set()
