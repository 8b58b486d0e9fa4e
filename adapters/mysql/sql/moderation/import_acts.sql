-- Rows of a site that moves here; those that came before stay. Uses: primary key of moderation_act.
INSERT INTO moderation_act
    (shard, act_id, kind, moderator_id, moderator_name, subject, board_id, acted_at, detail, reason)
VALUES
-- rows, joined by ,
(?, ?, ?, ?, ?, ?, ?, ?, ?, ?)
-- after the rows
ON DUPLICATE KEY UPDATE act_id = act_id
