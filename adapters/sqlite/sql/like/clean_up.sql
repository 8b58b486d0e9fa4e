-- Uses: primary key of article_like, twice.
DELETE FROM article_like
WHERE article_id = ?1
  AND member_id IN (SELECT member_id FROM article_like WHERE article_id = ?1 ORDER BY member_id LIMIT ?2)
