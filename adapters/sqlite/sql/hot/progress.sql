-- How far the group of the scores has come in each of its topics, by the front of the primary key of log_group.
SELECT topic, done, fell_behind FROM log_group WHERE group_name = ?1
