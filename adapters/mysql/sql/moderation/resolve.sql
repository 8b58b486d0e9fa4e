-- A report is settled once. Uses: primary key of report.
UPDATE report FORCE INDEX (PRIMARY)
SET is_open = 0, resolved_by = ?, resolved_at = ?, note = ?
WHERE shard = 0 AND report_id = ? AND is_open = 1
