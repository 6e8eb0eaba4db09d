"""The tables of authz's database, in the order in which they came."""

from memoria_authz import orders
from memoria_authz.anomaly import ledger
from memoria_authz.roster import store as roster

MIGRATIONS = (orders.MIGRATION, ledger.MIGRATION, roster.MIGRATION)
