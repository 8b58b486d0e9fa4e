-- The counter of an article's comments, and whether the article is gone: always one row. Uses: primary keys of
-- article_comment_count and comment_article_gone.
SELECT c.comment_count, c.row_count, c.version, c.greatest_id, g.article_id IS NOT NULL, c.locked, c.board_id,
    c.noted_version, c.last_comment_id, c.last_at, c.last_writer_id, c.last_writer_name
FROM (SELECT 1) page
LEFT JOIN article_comment_count c ON c.article_id = ?1
LEFT JOIN comment_article_gone g ON g.article_id = ?1
