"""The tables of authz's database, in the order in which they came."""

from memoria_authz import orders
from memoria_authz.anomaly import ledger

MIGRATIONS = (orders.MIGRATION, ledger.MIGRATION)
