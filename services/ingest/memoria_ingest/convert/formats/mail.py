"""EML: the readable part of one mail, under its own few headers."""

from email import message_from_bytes, policy
from email.message import EmailMessage, MIMEPart
from email.utils import parsedate_to_datetime

from memoria_ingest.convert.formats.html import html_to_text
from memoria_ingest.convert.result import Converted, Refused


def convert(data: bytes, kind: str) -> Converted:
    """Sender, receivers and date as lines, then the plain text, or the HTML as text where there is no plain one."""
    message = message_from_bytes(data, policy=policy.default)
    assert isinstance(message, EmailMessage)
    if not any(name in message for name in ("From", "Date", "Subject", "Message-ID")):
        raise Refused("This file is called .eml but is not a mail.")
    part = message.get_body(("plain", "html"))
    body = _content(part) if part is not None else ""
    if part is not None and part.get_content_subtype() == "html":
        body = html_to_text(body)[0] if body.strip() else ""
    headers = [f"{name}: {_header(message, name)}" for name in ("From", "To", "Cc", "Date") if _header(message, name)]
    attachments = sum(1 for _ in message.iter_attachments())
    warnings = ("Attachments of this mail were not read; add them as files.",) if attachments else ()
    return Converted(
        "\n".join(headers) + "\n\n" + body.replace("\r\n", "\n"),
        _header(message, "Subject"),
        date=_date(message),
        by_person=True,
        warnings=warnings,
    )


def _header(message: EmailMessage, name: str) -> str:
    try:
        return " ".join(str(message.get(name, "")).split())
    except (ValueError, IndexError, AttributeError):  # the header parser trips over some malformed headers
        return ""


def _content(part: MIMEPart) -> str:
    try:
        return str(part.get_content())
    except (LookupError, ValueError, KeyError):
        payload = part.get_payload(decode=True)
        return payload.decode("utf-8", "replace") if isinstance(payload, bytes) else ""


def _date(message: EmailMessage) -> str:
    try:
        return parsedate_to_datetime(_header(message, "Date")).isoformat()
    except (ValueError, TypeError):
        return ""
