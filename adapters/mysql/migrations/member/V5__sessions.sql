-- Sessions as their owners list them. Whether one is good is told by its token and by the revocations, not by a row here.
CREATE TABLE session (
    shard        TINYINT UNSIGNED NOT NULL,
    session_id   BIGINT           NOT NULL,
    member_id    BIGINT           NOT NULL,
    created_at   BIGINT           NOT NULL,
    last_seen_at BIGINT           NOT NULL,
    expires_at   BIGINT           NOT NULL,
    passwords    INT UNSIGNED     NOT NULL,
    agent        VARCHAR(255)     NOT NULL,
    PRIMARY KEY (shard, session_id),
    KEY session_by_member (shard, member_id, session_id),
    KEY session_expiry (shard, expires_at)
) ENGINE = InnoDB DEFAULT CHARSET = utf8mb4 COLLATE = utf8mb4_bin;
