-- A group no longer holds the log back in a topic, by primary key.
UPDATE log_group SET fell_behind = 1 WHERE group_name = ?1 AND topic = ?2
