-- The counter of a board that was not created after all: nothing was ever counted in it. Uses: primary key of
-- board_article_count.
DELETE c FROM board_article_count c FORCE INDEX (PRIMARY)
WHERE c.shard = ? AND c.board_id = ? AND c.version = 0
