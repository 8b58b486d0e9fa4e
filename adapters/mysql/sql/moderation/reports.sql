-- Uses: report_by_state backwards from the cursor.
SELECT report_id, kind, subject, article_id, board_id, reporter_id, reporter_name, reported_at, reason,
    resolved_by, resolved_at, note
FROM report FORCE INDEX (report_by_state)
WHERE shard = 0 AND is_open = ? AND report_id < ?
ORDER BY report_id DESC
LIMIT ?
