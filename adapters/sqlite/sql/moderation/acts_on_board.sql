-- Uses: moderation_act_on_board backwards from the cursor, then primary key of moderation_act.
SELECT act_id, kind, moderator_id, moderator_name, subject, board_id, acted_at, detail, reason
FROM moderation_act
WHERE board_id = ?1 AND act_id < ?2
ORDER BY act_id DESC
LIMIT ?3
