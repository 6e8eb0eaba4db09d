"""The `_keymail` record of a domain: whoever holds the domain wrote it, so it is read as narrowly as it can be."""

from collections.abc import Sequence

from memoria_gateway.classifier.public import host_name

LABEL = "_keymail"

_KEY = b"host="
_MOST_RECORDS = 16
_MOST_BYTES = 512


def named_host(records: Sequence[bytes]) -> str | None:
    """The one host that the records name; None where they name none, more than one, or are too many to be meant."""
    if len(records) > _MOST_RECORDS or any(len(record) > _MOST_BYTES for record in records):
        return None
    named = [record for record in records if record.startswith(_KEY)]
    if len(named) != 1:
        return None
    try:
        return host_name(named[0].removeprefix(_KEY).decode("ascii"))
    except UnicodeDecodeError:
        return None
