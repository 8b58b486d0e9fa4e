-- Rows of a site that moves here; those that came before stay. Uses: primary key of once_answer.
INSERT INTO once_answer (shard, member_id, scope, once_key, fingerprint, answer, answered_at) VALUES
-- rows, joined by ,
(?, ?, ?, ?, ?, ?, ?)
-- after the rows
ON DUPLICATE KEY UPDATE member_id = member_id
