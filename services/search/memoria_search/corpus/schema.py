"""The tables. A released migration is never edited; `tests` grep the file for plaintext (G01)."""

from memoria_search.index.schema import MAX_ORDINALS, ORDINAL_BITS

# BLOB columns are sealed, but for `upload`, a keyed fingerprint. TEXT and INTEGER columns are TRU-12's plaintext: app,
# coordinates, revision tokens, sizes, times, counts. AUTOINCREMENT: a number is never given twice, not even after its
# row is gone, because index hits and seal contexts name a revision's text by it.
MIGRATIONS = [
    """
    CREATE TABLE documents (
        number INTEGER PRIMARY KEY AUTOINCREMENT,
        id TEXT NOT NULL UNIQUE,
        app TEXT NOT NULL,
        item_id BLOB,
        revision TEXT NOT NULL,
        title BLOB NOT NULL,
        trail BLOB NOT NULL,
        link BLOB NOT NULL,
        author BLOB NOT NULL,
        date BLOB NOT NULL,
        upload BLOB,
        part INTEGER NOT NULL,
        parts INTEGER NOT NULL,
        chunks INTEGER NOT NULL,
        created_at TEXT NOT NULL,
        updated_at TEXT NOT NULL
    ) STRICT;
    CREATE INDEX documents_upload ON documents (upload, part) WHERE upload IS NOT NULL;
    CREATE TABLE chunks (
        key INTEGER PRIMARY KEY,
        trail BLOB NOT NULL,
        text BLOB NOT NULL
    ) STRICT;
    CREATE TABLE sources (
        app TEXT PRIMARY KEY,
        state TEXT NOT NULL,
        as_of TEXT
    ) STRICT;
    """,
    # `deletions` is the outbox of the tombstone log in the bucket: `stored` says whether a record has arrived there.
    # `spaces.description` is sealed because it names a model; a vector is sealed like the text it was made of.
    """
    CREATE TABLE deletions (
        sequence INTEGER PRIMARY KEY,
        sealed BLOB NOT NULL,
        stored INTEGER NOT NULL
    ) STRICT;
    CREATE TABLE snapshot (
        only INTEGER PRIMARY KEY CHECK (only = 1),
        lineage TEXT NOT NULL,
        generation INTEGER NOT NULL
    ) STRICT;
    CREATE TABLE spaces (
        id INTEGER PRIMARY KEY,
        description BLOB NOT NULL,
        width INTEGER NOT NULL
    ) STRICT;
    CREATE TABLE vectors (
        space INTEGER NOT NULL REFERENCES spaces (id),
        key INTEGER NOT NULL,
        sealed BLOB NOT NULL,
        PRIMARY KEY (space, key)
    ) STRICT, WITHOUT ROWID;
    """,
]


def chunk_key(number: int, ordinal: int) -> int:
    """A chunk's key in the table and in the index: its document's number, then its ordinal."""
    return number << ORDINAL_BITS | ordinal


def key_range(number: int) -> tuple[int, int]:
    """The first and the last key that chunks of a document can have."""
    return chunk_key(number, 0), chunk_key(number, MAX_ORDINALS - 1)
