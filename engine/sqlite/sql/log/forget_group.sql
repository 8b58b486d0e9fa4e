-- Everything that is known of a group, by the front of the primary key.
DELETE FROM log_group WHERE group_name = ?1
