-- A key that another transaction has just used is an error, and the calls look again. Uses: primary key of once_answer.
INSERT INTO once_answer (shard, member_id, scope, once_key, fingerprint, answer, answered_at)
VALUES
-- rows, joined by ,
(?, ?, ?, ?, ?, ?, ?)
