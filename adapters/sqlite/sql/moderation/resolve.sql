-- A report is settled once. Uses: primary key of report.
UPDATE report
SET is_open = 0, resolved_by = ?2, resolved_at = ?3, note = ?4
WHERE report_id = ?1 AND is_open = 1
