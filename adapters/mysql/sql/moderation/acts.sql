-- The acts of one server under a cursor. Uses: moderation_act_by_id backwards from the cursor.
SELECT act_id, kind, moderator_id, moderator_name, subject, board_id, acted_at, detail, reason
FROM moderation_act FORCE INDEX (moderation_act_by_id)
WHERE act_id < ?
ORDER BY act_id DESC
LIMIT ?
