-- The acts of one server on a board under a cursor. Uses: moderation_act_on_board backwards from the cursor.
SELECT act_id, kind, moderator_id, moderator_name, subject, board_id, acted_at, detail, reason
FROM moderation_act FORCE INDEX (moderation_act_on_board)
WHERE board_id = ? AND act_id < ?
ORDER BY act_id DESC
LIMIT ?
