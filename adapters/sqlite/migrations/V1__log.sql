-- What messaging keeps: the event log with its groups, the outbox, the inbox, dead letters, leases, membership.

-- The embedded event log. AUTOINCREMENT: a position is never given twice, even after everything was trimmed.
CREATE TABLE event_log (
    position    INTEGER PRIMARY KEY AUTOINCREMENT,
    event_id    INTEGER NOT NULL,
    topic       TEXT    NOT NULL,
    key         TEXT    NOT NULL,
    shard       INTEGER NOT NULL,
    occurred_at INTEGER NOT NULL,
    headers     TEXT    NOT NULL,
    payload     BLOB    NOT NULL
) STRICT;
-- Ends in the position by itself, because that is the row id.
CREATE INDEX event_log_topic ON event_log (topic);

-- How far each consumer group has come in each topic; `done` is the last position it has finished.
CREATE TABLE log_group (
    group_name  TEXT    NOT NULL,
    topic       TEXT    NOT NULL,
    done        INTEGER NOT NULL,
    fell_behind INTEGER NOT NULL DEFAULT 0,
    PRIMARY KEY (group_name, topic)
) STRICT, WITHOUT ROWID;

-- Messages that wait for a relay. A row is unsent for as long as it exists.
CREATE TABLE outbox (
    row_id      INTEGER PRIMARY KEY AUTOINCREMENT,
    event_id    INTEGER NOT NULL,
    topic       TEXT    NOT NULL,
    key         TEXT    NOT NULL,
    shard       INTEGER NOT NULL,
    occurred_at INTEGER NOT NULL,
    headers     TEXT    NOT NULL,
    payload     BLOB    NOT NULL,
    inserted_at INTEGER NOT NULL,
    attempts    INTEGER NOT NULL DEFAULT 0
) STRICT;
CREATE UNIQUE INDEX outbox_event ON outbox (event_id);
CREATE INDEX outbox_shard ON outbox (shard);
CREATE INDEX outbox_key ON outbox (key);

-- Keys that wait because a row of theirs failed by itself.
CREATE TABLE outbox_parked_key (
    key         TEXT    NOT NULL PRIMARY KEY,
    until_ms    INTEGER NOT NULL,
    reason      TEXT    NOT NULL
) STRICT, WITHOUT ROWID;

-- Events whose effect a group has applied.
CREATE TABLE processed_event (
    group_name   TEXT    NOT NULL,
    event_id     INTEGER NOT NULL,
    processed_at INTEGER NOT NULL,
    PRIMARY KEY (group_name, event_id)
) STRICT, WITHOUT ROWID;
CREATE INDEX processed_event_age ON processed_event (processed_at);

-- Messages that were given up, until a person replays or dismisses them.
CREATE TABLE dead_letter (
    letter_id   INTEGER PRIMARY KEY AUTOINCREMENT,
    event_id    INTEGER NOT NULL,
    topic       TEXT    NOT NULL,
    key         TEXT    NOT NULL,
    shard       INTEGER NOT NULL,
    occurred_at INTEGER NOT NULL,
    headers     TEXT    NOT NULL,
    payload     BLOB    NOT NULL,
    died_at     INTEGER NOT NULL
) STRICT;

-- Which id times of a node number have been given away.
CREATE TABLE node_lease (
    node        INTEGER PRIMARY KEY,
    from_ms     INTEGER NOT NULL,
    until_ms    INTEGER NOT NULL
) STRICT;

-- Instances of services and when they were last heard, by this store's clock.
CREATE TABLE instance (
    service     TEXT    NOT NULL,
    instance    TEXT    NOT NULL,
    beat_at     INTEGER NOT NULL,
    PRIMARY KEY (service, instance)
) STRICT, WITHOUT ROWID;
