"""From a text to its chunks (IDX-01). Run once, when a document is taken in: ordinals are frozen (ING-15)."""

from memoria_ingest.chunk.chunker import Chunk, chunk_text

__all__ = ["Chunk", "chunk_text"]
