-- Rows of a site that moves here; those that came before stay. Uses: primary key of report.
INSERT INTO report
    (shard, report_id, kind, subject, article_id, board_id, reporter_id, reporter_name, reported_at, is_open, resolved_by,
    resolved_at, reason, note)
VALUES
-- rows, joined by ,
(?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)
-- after the rows
ON DUPLICATE KEY UPDATE report_id = report_id
