"""The form that makes a push connector: a name, and the origins whose pages may push."""

import re
from collections.abc import Mapping

from memoria_chassis.errors import Kind, ServiceError
from memoria_chassis.origins import checked_origin
from memoria_contract.limits import CONNECTOR_NAME, CONNECTOR_ORIGINS, ORIGIN_LENGTH


def named(form: Mapping[str, str]) -> tuple[str, list[str]]:
    """A new connector's name and origins. Raises INVALID with what to change."""
    name = form.get("name", "").strip()
    if not 1 <= len(name) <= CONNECTOR_NAME or not name.isprintable():
        raise ServiceError(Kind.INVALID, f"A connector's name has 1 to {CONNECTOR_NAME} characters that can be seen.")
    # As a browser says them, so that they can be compared as they come: no path, not even its first slash.
    origins = [origin.rstrip("/") for origin in re.split(r"[\s,]+", form.get("origins", "").lower()) if origin]
    if len(origins) > CONNECTOR_ORIGINS:
        raise ServiceError(Kind.INVALID, f"A connector allows at most {CONNECTOR_ORIGINS} origins.")
    try:
        for origin in origins:
            checked_origin(origin, cleartext=True)
    except ValueError:
        raise ServiceError(
            Kind.INVALID,
            "An origin is a scheme and a host, such as https://app.example, with a port if it is not the usual.",
        ) from None
    if any(len(origin) > ORIGIN_LENGTH for origin in origins):
        raise ServiceError(Kind.INVALID, f"An origin has at most {ORIGIN_LENGTH} characters.")
    return name, list(dict.fromkeys(origins))
