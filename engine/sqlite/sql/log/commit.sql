-- Stores what a group has done, by primary key. Never backwards: a late call of an earlier subscription changes nothing.
UPDATE log_group SET done = max(done, ?3) WHERE group_name = ?1 AND topic = ?2
