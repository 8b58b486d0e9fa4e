-- Counts all rows. Uses: article_by_board (covering), the smallest index.
SELECT count(*)
FROM article
