"""The SQL of the store on PostgreSQL, and its values as text."""

# ruff: noqa: S608 - all of it is our own text

from __future__ import annotations

from collections.abc import Iterable, Iterator

from noughts.store.records import MAX_ID_CHARACTERS
from noughts.store.sql import EXISTS, UPDATE_CATALOGUE, chunks

MAX_PAYLOAD_BYTES = 7_900
"""PostgreSQL's limit for a notification is 8,000."""

RECORDS_OF_MANY = f"""SELECT found.* FROM unnest(?::text[], ?::bigint[]) AS wanted(id, after),
    LATERAL (SELECT game, version, at, key, events, hash FROM noughts_records
    WHERE game = wanted.id AND version >= coalesce((SELECT max(version) FROM noughts_records
    WHERE game = wanted.id AND version < wanted.after), 0) AND {EXISTS} ORDER BY version) AS found"""
HEADS = """SELECT last.* FROM unnest(?::text[]) AS wanted(id), LATERAL (SELECT game, version, events, hash
    FROM noughts_records WHERE game = wanted.id ORDER BY version DESC LIMIT 1) AS last"""
# Transactions that end later have ids from the oldest running one on: nothing is missed.
IS_FINAL = """(generation < (SELECT generation FROM noughts_store)
    OR xid < pg_snapshot_xmin(pg_current_snapshot()))"""
INSERT = """INSERT INTO noughts_records (game, version, at, key, events, hash, generation)
    SELECT *, %s::int FROM unnest(%s::text[], %s::int[], %s::bigint[], %s::text[], %s::text[],
    %s::bytea[]) ON CONFLICT DO NOTHING RETURNING game, version"""
INSERT_WITH_CATALOGUE = f"""WITH written AS ({INSERT}),
    listed AS (INSERT INTO noughts_games (id, started, x, o, result)
    SELECT * FROM unnest(%s::text[], %s::bigint[], %s::text[], %s::text[], %s::text[]) AS new (id)
    WHERE id IN (SELECT game FROM written) {UPDATE_CATALOGUE}) SELECT game, version FROM written"""
# A document that was deleted meanwhile is not written again.
WRITE_DOCUMENTS = """WITH kept AS (
    SELECT name FROM noughts_documents WHERE name = ANY(%s) ORDER BY name FOR UPDATE)
    INSERT INTO noughts_documents (name, revision, label, text, key, hash, generation)
    SELECT new.*, %s::int FROM unnest(%s::text[], %s::bigint[], %s::text[], %s::text[], %s::text[],
    %s::bytea[]) AS new (name, revision) WHERE %s OR revision = 1 OR name IN (SELECT name FROM kept)
    ON CONFLICT (name) DO UPDATE SET revision = excluded.revision, label = excluded.label,
    text = excluded.text, key = excluded.key, hash = excluded.hash, generation = excluded.generation,
    xid = excluded.xid WHERE noughts_documents.revision = excluded.revision - 1
    OR (%s AND noughts_documents.revision < excluded.revision) RETURNING name"""
# In order: otherwise deletions and writes of the same documents could deadlock.
LOCK_DOCUMENTS = "SELECT 1 FROM noughts_documents WHERE name = ANY(%s) ORDER BY name FOR UPDATE"
CHECKPOINT = "SELECT cursor, records, hashes, documents_cursor, documents FROM noughts_checkpoint"
REPLACE_CHECKPOINT = """UPDATE noughts_checkpoint SET (cursor, records, hashes, documents_cursor,
    documents) = (%s, %s, %s, %s, %s)"""
LISTENERS = """SELECT EXISTS (SELECT FROM pg_locks
    WHERE locktype = 'advisory' AND (classid, objid) = (%s, %s) AND pid <> %s
    AND database = (SELECT oid FROM pg_database WHERE datname = current_database()))"""


def columns(rows: Iterable[tuple[object, ...]]) -> list[str]:
    """Write the columns of rows as PostgreSQL's array literals: psycopg takes 20 times as long."""
    return [f"{{{','.join(map(_element, column))}}}" for column in zip(*rows, strict=True)]


def _element(value: object) -> str:
    match value:
        case None:
            return "NULL"
        case bytes():
            return f'"\\\\x{value.hex()}"'
        case str():
            text = value.replace("\\", "\\\\").replace('"', '\\"')
            return f'"{text}"'
        case _:
            return str(value)


def payloads(names: Iterable[str]) -> Iterator[str]:
    return map(" ".join, chunks(sorted(names), MAX_PAYLOAD_BYTES // (MAX_ID_CHARACTERS + 1)))
