"""The section on the estate's home: the roster of the suite shape, or signing in by it in the lone one (AUT-22)."""

from collections.abc import Iterable
from pathlib import Path
from typing import Annotated, Self
from urllib.parse import urlsplit

from pydantic import AfterValidator, Field, SecretStr, model_validator

from memoria_chassis.errors import Kind, ServiceError
from memoria_chassis.keys import decode_key, service_key_from
from memoria_chassis.origins import checked_origin
from memoria_chassis.section import Section

_TOGETHER = "issuer, consumer_id, keys_base64 and dek_base64 are set together or not at all"


Origin = Annotated[str, AfterValidator(lambda value: value and checked_origin(value))]


class Home(Section):
    """The estate's home. Without a `url` there is no roster and the shape is the lone one."""

    url: str = ""
    token: SecretStr | None = None
    token_file: Path | None = None
    issuer: Origin = ""
    consumer_id: str = Field(default="", max_length=200, pattern=r"^[!-~]*$")
    keys_base64: str = ""  # a JWK set of public keys
    dek_base64: SecretStr | None = None  # only the gateway is given it
    dek_base64_file: Path | None = None
    directory_origin: Origin = ""

    @model_validator(mode="after")
    def _whole(self) -> Self:
        public = [bool(self.issuer), bool(self.consumer_id), bool(self.keys_base64)]
        if any(public) != all(public) or (self._has_key and not any(public)):
            raise ValueError(_TOGETHER)
        if self.url and self.issuer:
            raise ValueError("url and issuer exclude each other: signing in by issuer is the shape without a roster's")
        if not self.url and not self.issuer:
            raise ValueError("neither url is set nor what signing in by a home takes")
        return self

    @property
    def _has_key(self) -> bool:
        return self.dek_base64_file is not None or bool(self.dek_base64 and self.dek_base64.get_secret_value())

    def exchange_key(self, others: Iterable[bytes]) -> bytes:
        """The key of the bindings, 32 bytes. Raises INVALID where it is absent, or one of `others`.

        `others` are roots, or the gateway's own key, which is all that it has: the root is known by leading to that.
        """
        if not self._has_key:
            raise ServiceError(Kind.INVALID, f"home: {_TOGETHER}")
        try:
            key = decode_key(self.secret("dek_base64").translate(str.maketrans("+/", "-_")))
        except ServiceError as error:
            raise ServiceError(Kind.INVALID, f"home.dek_base64: {error.message}") from None
        if {key, service_key_from(key, "gateway").key} & set(others):
            raise ServiceError(Kind.INVALID, "home.dek_base64 is not a key of its own, but the DEK or the instance key")
        return key


def check_team(issuer: str, team: str, zone: str) -> None:
    """Refuse another team's home: no browser of ours is sent there (RUL-07). Raises ValueError."""
    host = urlsplit(issuer).hostname or ""
    labels = host.removesuffix(f".{zone}").split(".")
    if host.endswith(f".{zone}") and len(labels) == 2 and labels[0] != team:
        raise ValueError("home.issuer is another team's")
