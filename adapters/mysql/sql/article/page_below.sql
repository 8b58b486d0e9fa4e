-- A page under an id: the rest of the offset is skipped in the index alone, then only the rows of the page are read. Left
-- to itself the planner looks for board_id alone and walks from the newest row, hence the hint. Uses: article_by_board
-- (covering) for the ids, primary key of article for the rows.
SELECT a.article_id, a.board_id, a.writer_id, a.version, a.created_at, a.modified_at, a.writer_name, a.title
FROM (
    SELECT shard, article_id
    FROM article FORCE INDEX (article_by_board)
    WHERE board_id = ? AND article_id < ?
    ORDER BY article_id DESC
    LIMIT ? OFFSET ?
) page
STRAIGHT_JOIN article a FORCE INDEX (PRIMARY) ON a.shard = page.shard AND a.article_id = page.article_id
