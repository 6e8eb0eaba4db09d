"""The settings, as typed sections. docs/configuration.md documents every key; a test compares the two."""

from collections.abc import Mapping
from functools import partial
from pathlib import Path
from typing import Annotated, Literal, Self

from pydantic import AfterValidator, BaseModel, Field, SecretStr, TypeAdapter, ValidationError, model_validator

from memoria_chassis.errors import Kind, ServiceError
from memoria_chassis.home_settings import Home, check_team
from memoria_chassis.keys import decode_key
from memoria_chassis.secret import Watched
from memoria_chassis.section import Section

SERVICES = ("extract", "authz", "search", "ingest", "gateway")
"""In the order they start: whom a service calls is up before it."""

Label = Annotated[str, Field(pattern=r"^[a-z0-9]([a-z0-9-]{0,61}[a-z0-9])?$")]

Digest = Annotated[str, Field(pattern=r"^[0-9a-f]{64}$")]

_CALLERS = TypeAdapter(dict[str, Annotated[tuple[Digest, ...], Field(min_length=1, max_length=2)]])


def _address(value: str) -> str:
    value = value.strip().lower()
    if value.count("@") != 1 or value.startswith("@") or value.endswith("@") or any(c.isspace() for c in value):
        raise ValueError("an owner is an e-mail address")
    return value


class Team(Section):
    """Whose memory this is."""

    label: Label = "demo"
    zone: str = Field(default="localhost", pattern=r"^[a-z0-9]([a-z0-9.-]*[a-z0-9])?$")
    owners: list[Annotated[str, AfterValidator(_address)]] = Field(default=[])


class Keys(Section):
    """Key material: the roots for provisioning, and a service's own key for the service."""

    dek: SecretStr | None = None
    dek_file: Path | None = None
    instance_key: SecretStr | None = None
    instance_key_file: Path | None = None
    service_key: SecretStr | None = None
    service_key_file: Path | None = None

    def root(self, name: Literal["dek", "instance_key", "service_key"]) -> bytes:
        """A key, decoded. Raises PRECONDITION or INVALID."""
        return decode_key(self.secret(name))


class Data(Section):
    """Where things are kept. `scratch_dir` holds plaintext index files and must be RAM-backed unless
    `scratch_on_disk` says that this is a development machine."""

    dir: Path = Path("data")
    run_dir: Path = Path("data/run")
    scratch_dir: Path = Path("/dev/shm")  # noqa: S108 - RAM-backed by design; every use makes a 0700 folder of its own
    scratch_on_disk: bool = False


class BucketSection(Section):
    """Where sealed snapshots and replicas go; empty means `bucket/` in the data directory."""

    url: str = ""
    backup_retention_days: float = Field(default=30.0, ge=0)


class Index(Section):
    """How long search holds the readable index, and when it saves it. Seconds; an `idle_seconds` of 0 is never."""

    idle_seconds: float = Field(default=900.0, ge=0)
    snapshot_quiet_seconds: float = Field(default=30.0, gt=0)


class Sibling(Section):
    """One sibling app."""

    app: Label
    url: str
    report_file: Path | None = None  # what `memoria-conformance --json` wrote of it (CON-07)
    bodies: bool | None = None  # take texts in, not titles alone; unset: yes, except for a calendar (TRU-09)
    pull_token: SecretStr | None = None
    pull_token_file: Path | None = None
    ask_token: SecretStr | None = None
    ask_token_file: Path | None = None


class Mail(Section):
    """The mail server for sign-in links; without a url they go to the outbox in the data directory."""

    url: SecretStr | None = None
    url_file: Path | None = None
    sender: str = "memoria@localhost"


class Gateway(Section):
    """The browser's side."""

    host: str = "127.0.0.1"
    port: int = Field(default=8080, ge=0, le=65535)
    origin: str = ""  # empty: http://localhost:<port>
    trusted_proxies: list[str] = Field(default=[])  # addresses whose X-Forwarded-For is believed


class Signin(Section):
    """What is found out about an admitted address; nothing, unless switched on."""

    classifier: bool = False


class Rpc(Section):
    """Calls between our own services. An address is `unix:/path` or `host:port`; the latter needs the TLS files."""

    addresses: dict[str, str] = Field(default={})  # service → address; default unix:<run_dir>/<service>.sock
    tls_cert_file: Path | None = None
    tls_key_file: Path | None = None
    tls_ca_file: Path | None = None
    caller_token: SecretStr | None = None
    caller_token_file: Path | None = None
    callers: dict[str, Digest] = Field(default={})  # service → SHA-256 of its caller token, hex
    callers_file: Path | None = None  # replaces it: service → one such hash, or two while its token is replaced
    allow_file: Path | None = None  # replaces the service's own allow.toml

    def known_callers(self) -> Watched[Mapping[str, tuple[str, ...]]]:
        """Whose tokens are accepted: service → hashes, from the file as of now if there is one. Raises PRECONDITION."""
        if self.callers_file is None:
            return Watched(lambda: {name: (hashed,) for name, hashed in self.callers.items()})
        return Watched(partial(_read_callers, self.callers_file), self.callers_file)


def _read_callers(path: Path) -> Mapping[str, tuple[str, ...]]:
    try:
        return _CALLERS.validate_json(path.read_bytes())
    except (OSError, ValidationError) as error:
        raise ServiceError(Kind.PRECONDITION, "the file that rpc.callers_file names cannot be read") from error


class Internal(Section):
    """The internal port: health, readiness, metrics. 0 takes any free port and writes it to the run directory."""

    host: str = "127.0.0.1"
    port: int = Field(default=0, ge=0, le=65535)


class Ai(Section):
    """The owner's switch (AMD-11)."""

    position: Literal["off", "local", "provider"] = "off"


class Sections(BaseModel):
    """All sections together."""

    team: Team = Team()
    keys: Keys = Keys()
    data: Data = Data()
    bucket: BucketSection = BucketSection()
    index: Index = Index()
    sibling: list[Sibling] = []
    home: Home | None = None
    mail: Mail = Mail()
    gateway: Gateway = Gateway()
    signin: Signin = Signin()
    rpc: Rpc = Rpc()
    internal: Internal = Internal()
    ai: Ai = Ai()

    @property
    def roster_home(self) -> Home | None:
        """The home with a roster, if any: the suite shape."""
        return self.home if self.home and self.home.url else None

    @property
    def home_sign_in(self) -> Home | None:
        """The home that people sign in by, if any."""
        return self.home if self.home and self.home.issuer else None

    @model_validator(mode="after")
    def _own_home(self) -> Self:
        if self.home and self.home.issuer:
            check_team(self.home.issuer, self.team.label, self.team.zone)
        return self

    @model_validator(mode="after")
    def _apps_once(self) -> Self:
        apps = [sibling.app for sibling in self.sibling]
        if len(apps) != len(set(apps)):
            raise ValueError("an app is configured twice")
        return self

    def address_of(self, service: str) -> str:
        """Where a service listens."""
        return self.rpc.addresses.get(service, f"unix:{self.data.run_dir / service}.sock")
