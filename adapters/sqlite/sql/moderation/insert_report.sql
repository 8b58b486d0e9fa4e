-- Uses: unique index report_once, whose conflict is an outcome and not an error.
INSERT INTO report
    (report_id, kind, subject, article_id, board_id, reporter_id, reporter_name, reported_at, is_open, reason)
VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, 1, ?9)
ON CONFLICT (kind, subject, reporter_id) DO NOTHING
