-- Uses: unique index revocation_session. A session ends once.
INSERT INTO revocation (session_id, expires_at)
VALUES (?1, ?2)
ON CONFLICT (session_id) WHERE session_id IS NOT NULL DO NOTHING
