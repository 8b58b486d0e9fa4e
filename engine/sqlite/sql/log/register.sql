-- A group that is new in a topic; one that is known stays where it is. By primary key.
INSERT INTO log_group (group_name, topic, done) VALUES (?1, ?2, ?3)
ON CONFLICT (group_name, topic) DO NOTHING
