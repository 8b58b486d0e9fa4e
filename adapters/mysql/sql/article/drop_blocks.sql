-- The blocks of a board whose counter is dropped: all of them count nothing. Uses: primary key of article_block.
DELETE b FROM article_block b FORCE INDEX (PRIMARY)
WHERE b.shard = ? AND b.board_id = ?
