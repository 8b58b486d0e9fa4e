-- Uses: primary key of moderation_act.
INSERT INTO moderation_act
    (act_id, kind, moderator_id, moderator_name, subject, board_id, acted_at, detail, reason)
VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9)
