-- Links by which members choose a new password, one for each at most. The token itself is not stored.
CREATE TABLE password_reset (
    shard      TINYINT UNSIGNED NOT NULL,
    member_id  BIGINT           NOT NULL,
    digest     BINARY(32)       NOT NULL,
    expires_at BIGINT           NOT NULL,
    PRIMARY KEY (shard, member_id),
    UNIQUE KEY password_reset_digest (shard, digest),
    KEY password_reset_expiry (shard, expires_at)
) ENGINE = InnoDB;
