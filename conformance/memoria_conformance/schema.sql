-- One demo app. `revisions` is the log that S2 compares with; `events` is what S1 tells.
create table meta (key text primary key, value blob not null);
create table people (alias text primary key, person_ref text not null unique, address text not null unique);
create table items (
    item_id text primary key,
    alias text not null unique,
    rung text not null check (rung in ('private', 'granted', 'team')),
    revision text not null
) without rowid;
create table revisions (
    item_id text not null,
    revision text not null,
    n integer not null,
    content text not null,
    primary key (item_id, revision)
) without rowid;
create table grants (item_id text, person text, primary key (item_id, person)) without rowid;
create table removed (item_id text, person text, primary key (item_id, person)) without rowid;
-- Only what happened on the team rung: an item that never stood there leaves no trace here.
create table events (
    seq integer primary key autoincrement,
    item_id text not null,
    revision text not null,
    gone integer not null,
    touched_at real not null
);
create index events_by_item on events (item_id, seq);
-- At most two tokens a consumer, hashed, each with the epoch it came in (CON-17).
create table tokens (consumer text, scope text, hash blob primary key, epoch integer not null);
-- Made when a consumer is first seen, never before (CON-16).
create table consumers (consumer text primary key, epoch integer not null, ttl_seconds real not null, cursor_seq integer);
create table announces (announce_id text primary key, consumer text not null, seq integer not null, items text not null);
