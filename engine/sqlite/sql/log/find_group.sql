-- How far a group has come in a topic, by primary key.
SELECT done, fell_behind FROM log_group WHERE group_name = ?1 AND topic = ?2
