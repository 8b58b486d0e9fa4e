-- What moderators removed of comments and their marks do not tell, for as long as it can be restored.
CREATE TABLE comment_removed (
    shard          TINYINT UNSIGNED NOT NULL,
    comment_id     BIGINT           NOT NULL,
    article_id     BIGINT           NOT NULL,
    writer_id      BIGINT           NOT NULL,
    writer_name    VARCHAR(255)     NOT NULL,
    content        MEDIUMTEXT       NOT NULL,
    removed_at     BIGINT           NOT NULL,
    moderator_id   BIGINT           NOT NULL,
    moderator_name VARCHAR(255)     NOT NULL,
    reason         TEXT             NOT NULL,
    PRIMARY KEY (shard, comment_id),
    KEY comment_removed_by_time (removed_at, comment_id),
    KEY comment_removed_by_article (article_id, comment_id)
) ENGINE = InnoDB DEFAULT CHARSET = utf8mb4 COLLATE = utf8mb4_bin;
