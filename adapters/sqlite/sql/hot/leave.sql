-- Takes a deleted article from a final list, by hot_final_article.
DELETE FROM hot_final INDEXED BY hot_final_article
WHERE day = ?1 AND article_id = ?2
