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

-- As JSON; NULL until something about the member changes that their tokens do not know.
ALTER TABLE member ADD COLUMN standing VARBINARY(4096) NULL;
-- The same beside the role, in a member's row.
ALTER TABLE revocation ADD COLUMN standing VARBINARY(4096) NULL;

-- `subject` is the article or the comment that is reported, as the kind says. All of it on shard 0.
CREATE TABLE report (
    shard         TINYINT UNSIGNED NOT NULL,
    report_id     BIGINT           NOT NULL,
    kind          VARBINARY(16)    NOT NULL,
    subject       BIGINT           NOT NULL,
    article_id    BIGINT           NOT NULL,
    board_id      BIGINT           NOT NULL,
    reporter_id   BIGINT           NOT NULL,
    reporter_name VARCHAR(255)     NOT NULL,
    reported_at   BIGINT           NOT NULL,
    is_open       TINYINT UNSIGNED NOT NULL,
    resolved_by   BIGINT           NULL,
    resolved_at   BIGINT           NULL,
    reason        VARCHAR(1000)    NOT NULL,
    note          VARCHAR(1000)    NULL,
    PRIMARY KEY (shard, report_id),
    UNIQUE KEY report_once (shard, kind, subject, reporter_id),
    KEY report_by_state (shard, is_open, report_id),
    KEY report_on_board (shard, board_id, is_open, report_id)
) ENGINE = InnoDB DEFAULT CHARSET = utf8mb4 COLLATE = utf8mb4_bin;
