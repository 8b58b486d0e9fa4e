-- Uses: primary key of moderation_act.
INSERT INTO moderation_act
    (shard, act_id, kind, moderator_id, moderator_name, subject, board_id, acted_at, detail, reason)
VALUES
-- rows, joined by ,
(?, ?, ?, ?, ?, ?, ?, ?, ?, ?)
