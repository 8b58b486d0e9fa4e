-- An article with everything that decides how it is counted, in one read: its board's counter, and of each level the block
-- that holds it. Uses: primary keys of article, board_article_count and article_block.
SELECT a.article_id, a.board_id, a.writer_id, a.version, a.created_at, a.modified_at, a.writer_name, a.title, a.content,
    a.content_html,
    c.board_id, c.article_count, c.version, c.greatest_id, c.state, b.first_id, b.article_count, s.first_id,
    s.article_count
FROM article a
LEFT JOIN board_article_count c ON c.board_id = a.board_id
LEFT JOIN article_block b ON b.board_id = a.board_id AND b.level = 1 AND b.first_id = (
    SELECT max(x.first_id) FROM article_block x WHERE x.board_id = a.board_id AND x.level = 1 AND x.first_id <= ?1)
LEFT JOIN article_block s ON s.board_id = a.board_id AND s.level = 2 AND s.first_id = (
    SELECT max(x.first_id) FROM article_block x WHERE x.board_id = a.board_id AND x.level = 2 AND x.first_id <= ?1)
WHERE a.article_id = ?1
