-- How far a move is, if it is still this run's; nobody takes it over until the transaction ends. Uses: primary key of shard_move.
SELECT phase
FROM shard_move
WHERE shard = ? AND run = ?
FOR UPDATE
