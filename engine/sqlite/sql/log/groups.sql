-- Every group in every topic: a handful of rows, read whole in the order of the primary key.
SELECT group_name, topic, done, fell_behind FROM log_group ORDER BY group_name, topic
