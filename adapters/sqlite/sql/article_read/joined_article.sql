-- An article with what is counted about it, of one moment; no row when it or one of its owners says that it is gone.
-- Uses: primary keys of article, article_comment_count, article_like_count, article_view_count and the three gone tables.
SELECT
    article.article_id, article.board_id, article.writer_id, article.version, article.created_at, article.modified_at,
    article.writer_name, article.title, article.content, article.content_html,
    coalesce(comments.comment_count, 0), coalesce(comments.version, 0),
    coalesce(likes.like_count, 0), coalesce(likes.version, 0),
    coalesce(views.view_count, 0), coalesce(comments.locked, 0),
    comments.last_comment_id, comments.last_at, comments.last_writer_id, comments.last_writer_name,
    coalesce(comments.noted_version = comments.version, 1)
FROM article
LEFT JOIN article_comment_count AS comments ON comments.article_id = article.article_id
LEFT JOIN article_like_count AS likes ON likes.article_id = article.article_id
LEFT JOIN article_view_count AS views ON views.article_id = article.article_id
WHERE article.article_id = ?1
AND NOT EXISTS (SELECT 1 FROM comment_article_gone WHERE article_id = ?1)
AND NOT EXISTS (SELECT 1 FROM like_article_gone WHERE article_id = ?1)
AND NOT EXISTS (SELECT 1 FROM view_article_gone WHERE article_id = ?1)
