-- Uses: primary key of board.
DELETE b FROM board b FORCE INDEX (PRIMARY)
WHERE b.shard = 0 AND b.board_id = ?
