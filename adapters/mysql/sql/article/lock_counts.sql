-- Locks the counters of a batch in the order of their keys: this serialises each board. Uses: primary key of
-- board_article_count.
SELECT board_id, article_count, version, greatest_id, state
FROM board_article_count FORCE INDEX (PRIMARY)
WHERE
-- rows, joined by OR
(shard = ? AND board_id = ?)
-- after the rows
ORDER BY shard, board_id
FOR UPDATE
