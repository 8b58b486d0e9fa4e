-- Some comments of an article. Uses: search_doc_by_article.
SELECT id, gone_at IS NULL
FROM search_doc INDEXED BY search_doc_by_article
WHERE generation = ?1 AND article_id = ?2 AND kind = 1
LIMIT ?3
