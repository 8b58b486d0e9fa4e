-- Uses: article_pin_by_board.
SELECT article_id, board_id, pinned_at, until
FROM article_pin FORCE INDEX (article_pin_by_board)
WHERE board_id = ?
