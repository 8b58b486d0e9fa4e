-- Uses: report_once.
SELECT report_id, kind, subject, article_id, board_id, reporter_id, reporter_name, reported_at, reason,
    resolved_by, resolved_at, note
FROM report FORCE INDEX (report_once)
WHERE shard = 0 AND kind = ? AND subject = ? AND reporter_id = ?
