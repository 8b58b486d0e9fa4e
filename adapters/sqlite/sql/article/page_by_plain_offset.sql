-- For the bench only: the page as most would write it, whose offset reads every row it skips.
-- Uses: article_by_board, then primary key of article for each row, skipped ones included.
SELECT article_id, board_id, writer_id, version, created_at, modified_at, writer_name, title
FROM article
WHERE board_id = ?1
ORDER BY article_id DESC
LIMIT ?2 OFFSET ?3
