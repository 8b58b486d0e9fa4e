-- A report that was made before stays as it is. Uses: report_once.
INSERT IGNORE INTO report
    (shard, report_id, kind, subject, article_id, board_id, reporter_id, reporter_name, reported_at, is_open, reason)
VALUES (0, ?, ?, ?, ?, ?, ?, ?, ?, 1, ?)
