-- A message that was given up; one that dies again takes its own place. Uses: primary key of dead_letter.
INSERT INTO dead_letter (shard, event_id, topic, message_key, occurred_at, headers, payload, died_at)
VALUES (?, ?, ?, ?, ?, ?, ?, ?)
ON DUPLICATE KEY UPDATE topic = VALUES(topic), headers = VALUES(headers), payload = VALUES(payload),
    died_at = VALUES(died_at)
