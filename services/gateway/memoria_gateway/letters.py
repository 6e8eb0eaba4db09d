"""What a submitted address sets off behind the reply: admission, a link, a mail; for a stranger one to nowhere."""

from urllib.parse import urlencode

from email_validator import EmailNotValidError, validate_email

from memoria_chassis.errors import Kind, ServiceError
from memoria_gateway.desk import Desk


async def send_link(desk: Desk, address: str, next_path: str) -> None:
    """Mail a link to whoever is admitted. Nothing about a stranger's address is looked up, and nothing is sent."""
    if not _plausible(address):
        return
    try:
        person = await desk.gate.admit(address)
    except ServiceError as error:
        if error.kind is not Kind.REFUSED:
            raise
        # The same row, seal, sync and message, so that the work takes as long; of the address only its length is kept.
        # The secret is thrown away, and a link of nobody's would be refused at admission if it were ever followed.
        nobody = "-" * len(address)
        desk.behind(desk.mailer.rehearse(nobody, await _link(desk, nobody, next_path)))
        return
    to = person.subject.value
    if desk.classifier is not None:  # here, behind admission: of a stranger's domain nothing is asked (AUT-21)
        desk.behind(desk.classifier.classify(to))
    # The mail server's time is no other submission's: the next one in line does not wait for it.
    desk.behind(desk.mailer.send(to, await _link(desk, to, next_path)))


async def _link(desk: Desk, address: str, next_path: str) -> str:
    token = await desk.store.new_link(address, next_path)
    return f"{desk.origin}/auth/verify?" + urlencode({"token": token})


def _plausible(address: str) -> bool:
    if address.endswith("@localhost"):  # the first owner of a development instance; no mail domain by any standard
        return address.count("@") == 1 and not any(c.isspace() for c in address)
    try:
        validate_email(address, check_deliverability=False, test_environment=True)
    except EmailNotValidError:
        return False
    return True
