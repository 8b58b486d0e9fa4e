-- Everything that decides how article ?2 is counted on board ?1, in one read: the counter, and of each level the block
-- that holds the id. Uses: primary keys of board_article_count and article_block.
SELECT c.board_id, c.article_count, c.version, c.greatest_id, c.state, b.first_id, b.article_count, s.first_id,
    s.article_count
FROM board_article_count c
LEFT JOIN article_block b ON b.board_id = ?1 AND b.level = 1 AND b.first_id = (
    SELECT max(x.first_id) FROM article_block x WHERE x.board_id = ?1 AND x.level = 1 AND x.first_id <= ?2)
LEFT JOIN article_block s ON s.board_id = ?1 AND s.level = 2 AND s.first_id = (
    SELECT max(x.first_id) FROM article_block x WHERE x.board_id = ?1 AND x.level = 2 AND x.first_id <= ?2)
WHERE c.board_id = ?1
