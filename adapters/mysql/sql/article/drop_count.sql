-- The counter of a board that was not created after all, in which nothing was ever counted, or of one that is deleted.
-- Uses: primary key of board_article_count.
DELETE c FROM board_article_count c FORCE INDEX (PRIMARY)
WHERE c.shard = ? AND c.board_id = ? AND (c.version = 0 OR c.state = 2)
