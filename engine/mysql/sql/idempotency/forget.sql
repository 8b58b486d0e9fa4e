-- Expired answers give way to new ones under the same keys. Uses: primary key of once_answer.
DELETE o FROM once_answer o FORCE INDEX (PRIMARY)
WHERE
-- rows, joined by OR
(o.shard = ? AND o.member_id = ? AND o.scope = ? AND o.once_key = ?)
