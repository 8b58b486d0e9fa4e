-- Uses: primary key of board.
UPDATE board
SET title = ?2, description = ?3, position = ?4
WHERE board_id = ?1
