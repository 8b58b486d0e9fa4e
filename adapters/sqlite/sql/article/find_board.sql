-- Uses: primary keys of board and board_article_count.
SELECT b.board_id, b.slug, b.title, b.comment_mode, b.created_at, c.article_count, b.description, b.position, c.state,
    c.greatest_id
FROM board b
CROSS JOIN board_article_count c ON c.board_id = b.board_id
WHERE b.board_id = ?1
