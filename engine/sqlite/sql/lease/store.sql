-- A node number's lease, by primary key.
INSERT INTO node_lease (node, from_ms, until_ms) VALUES (?1, ?2, ?3)
ON CONFLICT (node) DO UPDATE SET from_ms = excluded.from_ms, until_ms = excluded.until_ms
