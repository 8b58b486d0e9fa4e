-- The next slice to be moved. Uses: primary key of moderation_act.
SELECT act_id, kind, moderator_id, moderator_name, subject, board_id, acted_at, detail, reason
FROM moderation_act
WHERE act_id > ?
ORDER BY act_id
LIMIT ?
