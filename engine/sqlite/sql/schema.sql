-- The tables of the engine, for programs whose own migrations do not make them. Where they are, nothing happens.

-- The embedded event log. AUTOINCREMENT: a position is never given twice, even after everything was trimmed.
CREATE TABLE IF NOT EXISTS event_log (
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
CREATE INDEX IF NOT EXISTS event_log_topic ON event_log (topic);

-- How far each consumer group has come in each topic; `done` is the last position it has finished.
CREATE TABLE IF NOT EXISTS log_group (
    group_name  TEXT    NOT NULL,
    topic       TEXT    NOT NULL,
    done        INTEGER NOT NULL,
    fell_behind INTEGER NOT NULL DEFAULT 0,
    PRIMARY KEY (group_name, topic)
) STRICT, WITHOUT ROWID;

-- Messages that were given up, until a person replays or dismisses them.
CREATE TABLE IF NOT EXISTS dead_letter (
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
CREATE TABLE IF NOT EXISTS node_lease (
    node        INTEGER PRIMARY KEY,
    from_ms     INTEGER NOT NULL,
    until_ms    INTEGER NOT NULL
) STRICT;

-- Idempotency records: the answers to requests that carried an Idempotency-Key; `member_id` is whoever called.
CREATE TABLE IF NOT EXISTS once_answer (
    member_id   INTEGER NOT NULL,
    scope       TEXT    NOT NULL,
    once_key    TEXT    NOT NULL,
    fingerprint BLOB    NOT NULL,
    answer      BLOB    NOT NULL,
    answered_at INTEGER NOT NULL,
    PRIMARY KEY (member_id, scope, once_key)
) STRICT;
CREATE INDEX IF NOT EXISTS once_answer_by_age ON once_answer (answered_at);
