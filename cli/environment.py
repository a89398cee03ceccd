"""Which environment variables each process is given: those of its own settings, and no others.

That the API cannot reach the index and the tool server cannot reach a model is a matter of what is
in their environment, not of what their code happens to do.
"""

from __future__ import annotations

from collections.abc import Mapping

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


def variables_of(settings: type[BaseSettings]) -> frozenset[str]:
    """Return the environment variables a settings class reads, in upper case."""
    prefix = str(settings.model_config.get("env_prefix", ""))
    names: set[str] = set()
    for name, field in settings.model_fields.items():
        names.update(_aliases(field) or {f"{prefix}{name}"})
    return frozenset(name.upper() for name in names)


def environment_for(settings: type[BaseSettings], full: Mapping[str, str]) -> dict[str, str]:
    """Return the part of an environment that a process with these settings is given.

    Args:
        settings: The settings class of the process.
        full: Everything that is set: the shell's variables over those of ``.env``.
    """
    allowed = variables_of(settings) | _SYSTEM
    return {name: value for name, value in full.items() if name.upper() in allowed}


def _aliases(field: FieldInfo) -> set[str]:
    alias = field.validation_alias
    if isinstance(alias, str):
        return {alias}
    if isinstance(alias, AliasChoices):
        return {choice for choice in alias.choices if isinstance(choice, str)}
    return set()
