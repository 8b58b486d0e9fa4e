-- Links by which members choose a new password, one for each at most. The token itself is not stored.
CREATE TABLE password_reset (
    member_id  INTEGER PRIMARY KEY,
    digest     BLOB    NOT NULL,
    expires_at INTEGER NOT NULL
) STRICT;
CREATE UNIQUE INDEX password_reset_digest ON password_reset (digest);
CREATE INDEX password_reset_expiry ON password_reset (expires_at);
