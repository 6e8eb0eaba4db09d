"""A sibling's half of the contract from four async functions, or five, and the small parts they are easily made of."""

from memoria_chassis.errors import Kind, ServiceError
from memoria_contract.serve.answers import (
    AggregateFunction,
    AnnouncePage,
    CellRef,
    Change,
    Changes,
    Closing,
    Content,
    NoValue,
    Refusal,
    SheetCell,
    Value,
)
from memoria_contract.serve.consumers import Consumer, Consumers, TokenHash
from memoria_contract.serve.cursors import Announces, Cursors
from memoria_contract.serve.rulings import rule
from memoria_contract.serve.server import serve
from memoria_contract.types import Author, ItemId, Pair, Revision, Subject, SubjectKind, Verdict

__all__ = [
    "AggregateFunction",
    "AnnouncePage",
    "Announces",
    "Author",
    "CellRef",
    "Change",
    "Changes",
    "Closing",
    "Consumer",
    "Consumers",
    "Content",
    "Cursors",
    "ItemId",
    "Kind",
    "NoValue",
    "Pair",
    "Refusal",
    "Revision",
    "ServiceError",
    "SheetCell",
    "Subject",
    "SubjectKind",
    "TokenHash",
    "Value",
    "Verdict",
    "rule",
    "serve",
]
