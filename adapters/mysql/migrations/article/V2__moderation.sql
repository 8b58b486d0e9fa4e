-- What moderators did. Each row commits with what it tells of; no statement changes or removes one.
CREATE TABLE moderation_act (
    shard          TINYINT UNSIGNED NOT NULL,
    act_id         BIGINT           NOT NULL,
    kind           VARBINARY(32)    NOT NULL,
    moderator_id   BIGINT           NOT NULL,
    moderator_name VARCHAR(255)     NOT NULL,
    subject        BIGINT           NOT NULL,
    board_id       BIGINT           NULL,
    acted_at       BIGINT           NOT NULL,
    detail         VARCHAR(255)     NOT NULL,
    reason         VARCHAR(1000)    NOT NULL,
    PRIMARY KEY (shard, act_id),
    KEY moderation_act_by_id (act_id),
    KEY moderation_act_on_board (board_id, act_id)
) ENGINE = InnoDB DEFAULT CHARSET = utf8mb4 COLLATE = utf8mb4_bin;
