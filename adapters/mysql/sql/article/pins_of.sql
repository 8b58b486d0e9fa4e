-- The pins of the boards of a batch, whose counters are locked. Uses: article_pin_by_board.
SELECT article_id, board_id, pinned_at, until
FROM article_pin FORCE INDEX (article_pin_by_board)
WHERE
-- rows, joined by OR
(board_id = ?)
