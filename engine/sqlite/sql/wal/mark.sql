-- A row that is removed again in the same transaction, by primary key: its COMMIT puts a frame into the write-ahead log.
INSERT INTO node_lease (node, from_ms, until_ms) VALUES (-1, 0, 0)
ON CONFLICT (node) DO UPDATE SET from_ms = excluded.from_ms
