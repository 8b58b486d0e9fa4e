-- Uses: report_on_board backwards from the cursor, then primary key of report.
SELECT report_id, kind, subject, article_id, board_id, reporter_id, reporter_name, reported_at, reason,
    resolved_by, resolved_at, note
FROM report
WHERE board_id = ?1 AND is_open = ?2 AND report_id < ?3
ORDER BY report_id DESC
LIMIT ?4
