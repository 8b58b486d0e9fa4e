-- Of a board that goes: all of them count nothing. Uses: primary key of article_block.
DELETE FROM article_block
WHERE board_id = ?1
