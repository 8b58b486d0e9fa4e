-- Expired answers give way to new ones under the same keys. Uses: primary key of once_answer.
DELETE FROM once_answer
WHERE
-- rows, joined by OR
(shard = ? AND member_id = ? AND scope = ? AND once_key = ?)
