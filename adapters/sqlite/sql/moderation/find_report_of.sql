-- Uses: unique index report_once, then primary key of report.
SELECT report_id, kind, subject, article_id, board_id, reporter_id, reporter_name, reported_at, reason,
    resolved_by, resolved_at, note
FROM report
WHERE kind = ?1 AND subject = ?2 AND reporter_id = ?3
