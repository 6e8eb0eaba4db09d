"""Loads the settings: `memoria.toml`, then `MEMORIA_…` over it. Anything unknown in either is refused."""

import json
import os
import tomllib
from collections.abc import Mapping
from pathlib import Path
from typing import Any, cast, get_args

from pydantic import BaseModel, SecretStr, ValidationError
from pydantic_settings import BaseSettings, PydanticBaseSettingsSource, SettingsConfigDict

from memoria_chassis.errors import Kind, ServiceError
from memoria_chassis.settings import Sections, Sibling

_PREFIX = "MEMORIA_"
RESERVED = frozenset({"MEMORIA_CONFIG", "MEMORIA_LIFELINE"})
"""Variables that are read before or beside the settings."""

SHORT = {
    "MEMORIA_DEK": ("keys", "dek"),
    "MEMORIA_INSTANCE_KEY": ("keys", "instance_key"),
    "MEMORIA_SERVICE_KEY": ("keys", "service_key"),
    "MEMORIA_OWNERS": ("team", "owners"),
    "MEMORIA_ZONE": ("team", "zone"),
    "MEMORIA_AI": ("ai", "position"),
}
"""Short names the specification gives (DEP-01, AMD-09, EGR-02)."""

_DIRECTORY = "HOME_DIRECTORY_ORIGIN"
"""The one variable that the suite's apps share, and so without our prefix (AUT-22)."""


class Settings(Sections, BaseSettings):
    """Everything a service may be told. Made by `load_settings`."""

    model_config = SettingsConfigDict(extra="forbid", frozen=True, hide_input_in_errors=True)

    @classmethod
    def settings_customise_sources(
        cls,
        settings_cls: type[BaseSettings],
        init_settings: PydanticBaseSettingsSource,
        env_settings: PydanticBaseSettingsSource,
        dotenv_settings: PydanticBaseSettingsSource,
        file_secret_settings: PydanticBaseSettingsSource,
    ) -> tuple[PydanticBaseSettingsSource, ...]:
        """Only what `load_settings` hands over: it has merged file and environment by our names already."""
        return (init_settings,)


def load_settings(environ: Mapping[str, str] | None = None) -> Settings:
    """Read the file that MEMORIA_CONFIG names, if any, and the environment. Raises ServiceError with one clear line."""
    env = os.environ if environ is None else environ
    tree = _from_file(Path(env["MEMORIA_CONFIG"])) if env.get("MEMORIA_CONFIG") else {}
    _overlay(tree, env)
    try:
        return Settings(**tree)
    except ValidationError as error:
        first = error.errors(include_input=False, include_url=False)[0]
        where = ".".join(str(part) for part in first["loc"]) or "settings"
        raise ServiceError(Kind.INVALID, f"{where}: {first['msg'].removeprefix('Value error, ')}") from None


def _from_file(path: Path) -> dict[str, Any]:
    try:
        data = path.read_bytes()
    except (OSError, ValueError) as error:
        raise ServiceError(Kind.INVALID, "the file that MEMORIA_CONFIG names cannot be read") from error
    try:
        tree = tomllib.loads(data.decode())
    except (ValueError, RecursionError):  # its messages quote the file, which may hold what should not be repeated
        raise ServiceError(Kind.INVALID, "the configuration file is not valid TOML") from None
    for name, section in tree.items():
        model = _model(name)
        for table in section if isinstance(section, list) else [section]:
            for key in table if isinstance(table, dict) else ():
                if model and _is_secret(model, key):
                    raise ServiceError(
                        Kind.INVALID, f"{name}.{key}: a secret is given by {key}_file or in the environment"
                    )
    return tree


def _model(section: str) -> type[BaseModel] | None:
    if section == "sibling":
        return Sibling
    field = Sections.model_fields.get(section)
    if field is None:
        return None
    kinds = [field.annotation, *get_args(field.annotation)]
    return next((kind for kind in kinds if isinstance(kind, type) and issubclass(kind, BaseModel)), None)


def _is_secret(model: type[BaseModel], key: str) -> bool:
    field = model.model_fields.get(key)
    return field is not None and SecretStr in (field.annotation, *get_args(field.annotation))


def _overlay(tree: dict[str, Any], env: Mapping[str, str]) -> None:
    for variable in sorted(env):
        if not variable.startswith(_PREFIX) or variable in RESERVED:
            continue
        section, key = SHORT.get(variable) or _split(variable)
        value = env[variable]
        if section == "sibling":
            app, _, name = key.partition("_")
            _sibling(tree, app)[name] = value
            continue
        model = _model(section)
        assert model is not None
        table = tree.setdefault(section, {})
        if not isinstance(table, dict):
            raise ServiceError(Kind.INVALID, f"{section}: a section is a table")
        table[key] = _parse(model, key, value, variable)
    home = tree.get("home")
    if isinstance(home, dict) and _DIRECTORY in env:  # without a home there is nothing that would lead there
        home.setdefault("directory_origin", env[_DIRECTORY])


def _split(variable: str) -> tuple[str, str]:
    section, _, key = variable.removeprefix(_PREFIX).lower().partition("_")
    model = _model(section)
    known = model is not None and key in model.model_fields
    if section == "sibling":  # MEMORIA_SIBLING_<APP>_<KEY>
        known = key.partition("_")[2] in Sibling.model_fields
    if not known:
        raise ServiceError(Kind.INVALID, f"{variable} is not a setting")
    return section, key


def _sibling(tree: dict[str, Any], app: str) -> dict[str, Any]:
    siblings = tree.setdefault("sibling", [])
    if not isinstance(siblings, list) or not all(isinstance(sibling, dict) for sibling in siblings):
        raise ServiceError(Kind.INVALID, "sibling: each sibling is a table of its own, [[sibling]]")
    for sibling in siblings:
        if sibling.get("app") == app:
            return cast(dict[str, Any], sibling)
    siblings.append({"app": app})
    return cast(dict[str, Any], siblings[-1])


def _parse(model: type[BaseModel], key: str, value: str, variable: str) -> Any:
    kind = str(model.model_fields[key].annotation)
    if kind.startswith("list"):
        return [part.strip() for part in value.split(",") if part.strip()]
    if kind.startswith("dict"):
        try:
            return json.loads(value)
        except (ValueError, RecursionError):
            raise ServiceError(Kind.INVALID, f"{variable} is not JSON") from None
    return value
