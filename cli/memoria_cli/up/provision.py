"""What an instance is started with: keys, tokens, and each service's own share of them as environment variables."""

import os
import secrets
import shutil
import stat
from collections.abc import Callable
from hashlib import sha256
from pathlib import Path

from memoria_chassis.config import Settings, load_settings
from memoria_chassis.errors import Kind, ServiceError
from memoria_chassis.keys import decode_key, encode_key, new_key, service_key_from
from memoria_chassis.settings import SERVICES
from memoria_cli.place import Place, write_private
from memoria_cli.tokens.callers import CALLING, CallerFiles

FIRST_OWNER = "you@localhost"


def root_key(place: Place, settings: Settings, name: str) -> bytes:
    """The DEK or the instance key: as configured, or the one this data directory was given on its first start."""
    configured = settings.keys
    if getattr(configured, name) is not None or getattr(configured, f"{name}_file") is not None:
        return configured.root(name)
    path = place.keys / name
    if not path.exists():
        if settings.team.zone != "localhost":
            # A key made up here would lie beside what it seals, and a forgotten setting would not be noticed (DEP-01).
            variable = f"MEMORIA_{name.upper()}"
            raise ServiceError(Kind.PRECONDITION, f"{variable} is not set: only the zone localhost makes its own keys")
        write_private(path, encode_key(new_key()) + "\n")
    return decode_key(path.read_text())


def token(place: Place, name: str) -> str:
    """A random token that stays the same for this data directory."""
    path = place.tokens / name
    if not path.exists():
        write_private(path, secrets.token_urlsafe(32) + "\n")
    return path.read_text().strip()


def make_run_dir(place: Place, zone: str, say: Callable[[str], None]) -> Path:
    """A fresh directory for sockets and the index in RAM; named after the data directory, so that what a crash left
    behind is found and wiped by the next start."""
    base = Path("/dev/shm")  # noqa: S108 - RAM-backed by design; the folder is checked to be ours below
    if not base.is_dir():
        if zone != "localhost":
            raise ServiceError(Kind.PRECONDITION, "there is no /dev/shm: the index must lie in RAM, and nowhere else")
        say("there is no /dev/shm: while memoria runs, its readable index lies in the data directory, on disk")
        base = place.data
    name = sha256(str(place.data).encode()).hexdigest()[:12]
    path = base / f"memoria-{os.getuid()}-{name}"
    if path.is_symlink() or path.exists():
        found = path.lstat()
        if not stat.S_ISDIR(found.st_mode) or found.st_uid != os.getuid():
            raise ServiceError(Kind.PRECONDITION, "the run directory's name is taken by somebody else's file")
        shutil.rmtree(path)
    path.mkdir(mode=0o700)
    return path


def read_settings(place: Place) -> tuple[Settings, dict[str, str]]:
    """The user's settings, and the environment in which services will find the same ones."""
    environment = {name: value for name, value in os.environ.items() if not name.startswith("MEMORIA_LIFELINE")}
    if "MEMORIA_CONFIG" not in environment and place.config.exists():
        environment["MEMORIA_CONFIG"] = str(place.config)
    return load_settings(environment), environment


class Environments:
    """Builds each service's environment: its own key and secrets, the files of its caller token and of all hashes."""

    def __init__(self, place: Place, settings: Settings, base: dict[str, str], run_dir: Path, port: int) -> None:
        dek, instance = root_key(place, settings, "dek"), root_key(place, settings, "instance_key")
        if settings.home_sign_in:
            settings.home_sign_in.exchange_key([dek, instance])  # here, where both roots are at hand (AUT-22)
        # The gateway's keys hang on the instance key, never on the DEK: it could open no chunk if it tried.
        self._keys = {
            name: encode_key(service_key_from(instance if name == "gateway" else dek, name).key) for name in SERVICES
        }
        self._callers = CallerFiles(run_dir)
        self._callers.make()
        self._base = base
        self._shared = {
            "MEMORIA_LIFELINE": "1",
            "MEMORIA_DATA_DIR": str(place.data),
            "MEMORIA_DATA_RUN_DIR": str(run_dir),
            "MEMORIA_DATA_SCRATCH_DIR": str(run_dir / "scratch"),
            # The run directory is in RAM unless there is none, and then that has been said (`make_run_dir`).
            "MEMORIA_DATA_SCRATCH_ON_DISK": str(run_dir.is_relative_to(place.data)).lower(),
            "MEMORIA_GATEWAY_PORT": str(port),
            "MEMORIA_RPC_CALLERS_FILE": str(self._callers.hashes),
            "PYTHONUNBUFFERED": "1",
            "GRPC_VERBOSITY": "NONE",  # its core would write lines of its own, with paths, past our log
        }
        self._siblings: dict[str, dict[str, str]] = {}
        self.owners: list[str] = []

    def add_sibling(self, app: str, url: str, pull_token: Path, ask_token: Path) -> None:
        """A sibling that the settings do not know of. Its tokens by their files, so that they can be rotated."""
        self._siblings[app] = {"url": url, "pull_token": str(pull_token), "ask_token": str(ask_token)}

    def of(self, service: str) -> dict[str, str]:
        """The environment of one service. Roots, and the other services' secrets, are not in it."""
        env = {name: value for name, value in self._base.items() if not self._withheld(service, name)}
        env |= self._shared
        env["MEMORIA_SERVICE_KEY"] = self._keys[service]
        if service in CALLING:
            env["MEMORIA_RPC_CALLER_TOKEN_FILE"] = str(self._callers.token(service))
        if self.owners:
            env["MEMORIA_OWNERS"] = ",".join(self.owners)
        if service in {"authz", "ingest"}:
            share = "ask_token" if service == "authz" else "pull_token"
            for app, sibling in self._siblings.items():
                prefix = f"MEMORIA_SIBLING_{app.upper()}_"
                env[prefix + "URL"] = sibling["url"]
                env[f"{prefix}{share.upper()}_FILE"] = sibling[share]
        return env

    def _withheld(self, service: str, name: str) -> bool:
        # By prefix, so that a `_FILE` variable is kept back like the value it leads to.
        if name.startswith(("MEMORIA_DEK", "MEMORIA_INSTANCE_KEY", "MEMORIA_KEYS_", "MEMORIA_RPC_CALLER")):
            return True
        if name.startswith("MEMORIA_SIBLING_"):
            if service not in {"authz", "ingest"}:
                return True
            other = "_ASK_TOKEN" if service == "ingest" else "_PULL_TOKEN"
            return name.endswith((other, f"{other}_FILE"))
        if name.startswith("MEMORIA_HOME_TOKEN"):
            return service != "authz"
        return name.startswith(("MEMORIA_MAIL_URL", "MEMORIA_HOME_DEK_BASE64")) and service != "gateway"
