-- Uses: primary keys of board (in order) and board_article_count. A site has few boards, so all are read.
SELECT b.board_id, b.slug, b.title, b.comment_mode, b.created_at, c.article_count, b.description, b.position, c.state,
    c.greatest_id
FROM board b
CROSS JOIN board_article_count c ON c.board_id = b.board_id
ORDER BY b.board_id
