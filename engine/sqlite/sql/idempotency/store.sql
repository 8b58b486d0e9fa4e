-- Uses: primary key of once_answer. An expired answer under the same key gives way.
INSERT INTO once_answer (member_id, scope, once_key, fingerprint, answer, answered_at)
VALUES (?1, ?2, ?3, ?4, ?5, ?6)
ON CONFLICT (member_id, scope, once_key) DO UPDATE
SET fingerprint = excluded.fingerprint, answer = excluded.answer, answered_at = excluded.answered_at
