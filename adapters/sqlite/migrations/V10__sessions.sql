-- Sessions as their owners list them. Whether one is good is told by its token and by the revocations, not by a row here.
CREATE TABLE session (
    session_id   INTEGER PRIMARY KEY,
    member_id    INTEGER NOT NULL,
    created_at   INTEGER NOT NULL,
    last_seen_at INTEGER NOT NULL,
    expires_at   INTEGER NOT NULL,
    passwords    INTEGER NOT NULL,
    agent        TEXT    NOT NULL
) STRICT;
-- With the primary key behind it: (member_id, session_id).
CREATE INDEX session_by_member ON session (member_id);
CREATE INDEX session_expiry ON session (expires_at);
