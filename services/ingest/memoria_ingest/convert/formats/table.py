"""CSV and TSV: rows as lines, kept verbatim under their header line."""

from memoria_ingest.convert.decode import decode
from memoria_ingest.convert.result import Converted


def convert(data: bytes, kind: str) -> Converted:
    """The rows. They are not re-quoted: what a person reads is what the file says."""
    text, warnings = decode(data)
    return Converted(text, table=True, warnings=tuple(warnings))
