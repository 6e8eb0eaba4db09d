"""The settings, as typed sections. docs/configuration.md documents every key; a test compares the two."""

from pathlib import Path
from typing import Annotated, Literal, Self

from pydantic import AfterValidator, BaseModel, ConfigDict, Field, SecretStr, model_validator

from memoria_chassis.errors import Kind, ServiceError
from memoria_chassis.keys import decode_key
from memoria_chassis.secret import Secret

SERVICES = ("extract", "authz", "search", "ingest", "gateway")
"""In the order they start: whom a service calls is up before it."""

Label = Annotated[str, Field(pattern=r"^[a-z0-9]([a-z0-9-]{0,61}[a-z0-9])?$")]

Digest = Annotated[str, Field(pattern=r"^[0-9a-f]{64}$")]


def _address(value: str) -> str:
    value = value.strip().lower()
    if value.count("@") != 1 or value.startswith("@") or value.endswith("@") or any(c.isspace() for c in value):
        raise ValueError("an owner is an e-mail address")
    return value


class Section(BaseModel):
    """A section: unknown keys are refused, and what is wrong is said without repeating the value."""

    model_config = ConfigDict(extra="forbid", frozen=True, hide_input_in_errors=True)

    def secret(self, name: str) -> str:
        """The secret `name`, by value or from `<name>_file`. Raises PRECONDITION if neither is set or it is empty."""
        value: SecretStr | None = getattr(self, name)
        file: Path | None = getattr(self, f"{name}_file")
        if value is not None:
            text = value.get_secret_value().strip()
        elif file is not None:
            try:
                text = file.read_text("utf-8").strip()
            except (OSError, ValueError) as error:  # ValueError: no UTF-8, or no possible path
                raise ServiceError(Kind.PRECONDITION, f"the file that {name}_file names cannot be read") from error
        else:
            text = ""
        if not text:
            raise ServiceError(Kind.PRECONDITION, f"{name} is not set, neither by value nor by {name}_file")
        return text

    def live(self, name: str) -> Secret:
        """The same, read again when its file has changed; one that is set by value stays. Raises PRECONDITION."""
        file: Path | None = getattr(self, f"{name}_file")
        return Secret(lambda: self.secret(name), file if getattr(self, name) is None else None)


class Team(Section):
    """Whose memory this is."""

    label: Label = "demo"
    zone: str = Field(default="localhost", pattern=r"^[a-z0-9]([a-z0-9.-]*[a-z0-9])?$")
    owners: list[Annotated[str, AfterValidator(_address)]] = []


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
    bodies: bool | None = None  # take texts in, not titles alone; unset: yes, except for a calendar (TRU-09)
    pull_token: SecretStr | None = None
    pull_token_file: Path | None = None
    ask_token: SecretStr | None = None
    ask_token_file: Path | None = None


class Home(Section):
    """The estate's home; absent means the lone shape."""

    url: str
    token: SecretStr | None = None
    token_file: Path | None = None


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
    trusted_proxies: list[str] = []  # addresses whose X-Forwarded-For is believed


class Signin(Section):
    """What is found out about an admitted address; nothing, unless switched on."""

    classifier: bool = False


class Rpc(Section):
    """Calls between our own services. An address is `unix:/path` or `host:port`; the latter needs the TLS files."""

    addresses: dict[str, str] = {}  # service → address; default unix:<run_dir>/<service>.sock
    tls_cert_file: Path | None = None
    tls_key_file: Path | None = None
    tls_ca_file: Path | None = None
    caller_token: SecretStr | None = None
    caller_token_file: Path | None = None
    callers: dict[str, Digest] = {}  # service → SHA-256 of its caller token, hex
    allow_file: Path | None = None  # replaces the service's own allow.toml


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

    @model_validator(mode="after")
    def _apps_once(self) -> Self:
        apps = [sibling.app for sibling in self.sibling]
        if len(apps) != len(set(apps)):
            raise ValueError("an app is configured twice")
        return self

    def address_of(self, service: str) -> str:
        """Where a service listens."""
        return self.rpc.addresses.get(service, f"unix:{self.data.run_dir / service}.sock")
