-- A group that fell behind goes on from a position, by primary key.
UPDATE log_group SET done = max(done, ?3), fell_behind = 0 WHERE group_name = ?1 AND topic = ?2
