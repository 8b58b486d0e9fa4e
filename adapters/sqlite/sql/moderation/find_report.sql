-- Uses: primary key of report.
SELECT report_id, kind, subject, article_id, board_id, reporter_id, reporter_name, reported_at, reason,
    resolved_by, resolved_at, note
FROM report
WHERE report_id = ?1
