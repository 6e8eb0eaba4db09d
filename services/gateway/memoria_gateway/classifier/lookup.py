"""What the classifier asks the DNS: a domain's text records, once, and one host's addresses, once."""

from dns.asyncresolver import Resolver
from dns.exception import DNSException
from dns.name import from_text
from dns.rdatatype import TXT


async def text_records(name: str) -> list[bytes]:
    """The text records at `name`, each in one piece; none where there are none or nobody says."""
    try:
        answer = await Resolver().resolve(from_text(name), TXT, search=False)
    except (DNSException, OSError):
        return []
    return [b"".join(record.strings) for record in answer]


async def addresses(host: str) -> list[str]:
    """The addresses of `host`, of both families; none where it has none or nobody says. The hosts file has no say."""
    try:
        answer = await Resolver().resolve_name(from_text(host), search=False)
    except (DNSException, OSError):
        return []
    return list(answer.addresses())
