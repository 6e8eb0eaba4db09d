"""EML: the readable part of one mail, under its own few headers."""

from email import message_from_bytes, policy
from email.message import EmailMessage, MIMEPart
from email.utils import parsedate_to_datetime

from memoria_ingest.convert.formats.html import html_to_text
from memoria_ingest.convert.result import Converted, Refused

_ATTACHED = "Attachments of this mail were not read; add them as files."
_UNREADABLE = "The body of this mail is damaged; only its headers were read."


def convert(data: bytes, kind: str) -> Converted:
    """Sender, receivers and date as lines, then the plain text, or the HTML as text where there is no plain one."""
    message = message_from_bytes(data, policy=policy.default)
    assert isinstance(message, EmailMessage)
    if not any(name in message for name in ("From", "Date", "Subject", "Message-ID")):
        raise Refused("This file is called .eml but is not a mail.")
    warnings: list[str] = []
    try:
        body = _body(message)
    except Refused:
        body = ""  # an HTML part with nothing in it
    except Exception:  # parts are nested as their sender chose, and the library's ways to fail are as many
        body = ""
        warnings.append(_UNREADABLE)
    named = ((name, _header(message, name)) for name in ("From", "To", "Cc", "Date"))
    headers = "\n".join(f"{name}: {value}" for name, value in named if value)
    if any(True for _ in message.iter_attachments()):
        warnings.append(_ATTACHED)
    return Converted(
        f"{headers}\n\n{body}".strip("\n"),
        _header(message, "Subject"),
        date=_date(message),
        by_person=True,
        warnings=tuple(warnings),
    )


def _body(message: EmailMessage) -> str:
    part = message.get_body(("plain", "html"))
    if part is None:
        return ""
    text = _content(part).replace("\r\n", "\n").replace("\r", "\n")
    if part.get_content_subtype() == "html":
        return html_to_text(text)[0] if text.strip() else ""
    return text


def _header(message: EmailMessage, name: str) -> str:
    try:
        return " ".join(str(message.get(name, "")).split())
    except Exception:  # the header parser trips over malformed headers in more ways than it documents
        return ""


def _content(part: MIMEPart) -> str:
    try:
        return str(part.get_content())
    except (LookupError, ValueError):
        payload = part.get_payload(decode=True)
        return payload.decode("utf-8", "replace") if isinstance(payload, bytes) else ""


def _date(message: EmailMessage) -> str:
    try:
        return parsedate_to_datetime(_header(message, "Date")).isoformat()
    except (ValueError, TypeError, OverflowError):
        return ""
