-- Reads all groups: there are few. The head is the highest position ever given, also when everything is trimmed.
-- Uses: primary key of log_group.
SELECT group_name, topic, done, (SELECT coalesce(max(seq), 0) FROM sqlite_sequence WHERE name = 'event_log')
FROM log_group
WHERE done > (SELECT coalesce(max(seq), 0) FROM sqlite_sequence WHERE name = 'event_log')
