-- The counters of every board on a server: as many as boards. A whole scan.
SELECT board_id, article_count, version, greatest_id, state
FROM board_article_count
