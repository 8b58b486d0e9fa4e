-- The next slice to be moved. Uses: primary key of report.
SELECT report_id, kind, subject, article_id, board_id, reporter_id, reporter_name, reported_at, is_open, resolved_by,
    resolved_at, reason, note
FROM report
WHERE report_id > ?
ORDER BY report_id
LIMIT ?
