"""Plain types to wire values, for the client of search and for our own server alike."""

from memoria.index.v1 import index_pb2 as pb
from memoria_ingest.siblings.state import SourceState

SOURCE_STATES = {
    SourceState.CURRENT: pb.SOURCE_STATE_CURRENT,
    SourceState.AS_OF: pb.SOURCE_STATE_AS_OF,
    SourceState.RECONCILING: pb.SOURCE_STATE_RECONCILING,
    SourceState.PARTIAL: pb.SOURCE_STATE_PARTIAL,
}
