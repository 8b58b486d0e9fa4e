-- Blocks of one level below an id, newest first, a slice of them. Uses: primary key of article_block.
SELECT first_id, article_count
FROM article_block FORCE INDEX (PRIMARY)
WHERE shard = ? AND board_id = ? AND level = ? AND first_id < ?
ORDER BY first_id DESC
LIMIT ?
