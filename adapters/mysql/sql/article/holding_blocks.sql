-- Of each level the block that holds an id: the last that starts at it or before. Uses: primary key of article_block.
-- rows, joined by UNION ALL
(SELECT board_id, level, first_id, article_count
 FROM article_block FORCE INDEX (PRIMARY)
 WHERE shard = ? AND board_id = ? AND level = ? AND first_id <= ?
 ORDER BY first_id DESC
 LIMIT 1)
