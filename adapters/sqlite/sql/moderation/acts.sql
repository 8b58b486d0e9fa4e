-- Uses: primary key of moderation_act, backwards from the cursor.
SELECT act_id, kind, moderator_id, moderator_name, subject, board_id, acted_at, detail, reason
FROM moderation_act
WHERE act_id < ?1
ORDER BY act_id DESC
LIMIT ?2
