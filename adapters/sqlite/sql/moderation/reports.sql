-- Uses: report_by_state backwards from the cursor, then primary key of report.
SELECT report_id, kind, subject, article_id, board_id, reporter_id, reporter_name, reported_at, reason,
    resolved_by, resolved_at, note
FROM report
WHERE is_open = ?1 AND report_id < ?2
ORDER BY report_id DESC
LIMIT ?3
