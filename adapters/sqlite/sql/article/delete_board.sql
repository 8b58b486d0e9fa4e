-- Uses: primary key of board.
DELETE FROM board
WHERE board_id = ?1
