-- Uses: primary key of board.
UPDATE board
SET title = ?, description = ?, position = ?
WHERE shard = 0 AND board_id = ?
