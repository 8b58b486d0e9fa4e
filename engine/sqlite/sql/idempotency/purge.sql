-- One slice. Uses: once_answer_by_age (covering) to choose, row ids to delete.
DELETE FROM once_answer
WHERE rowid IN (SELECT rowid FROM once_answer WHERE answered_at < ?1 ORDER BY answered_at LIMIT ?2)
