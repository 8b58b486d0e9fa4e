-- What moderators removed, for as long as it can be restored; no count includes it.
CREATE TABLE article_removed (
    shard          TINYINT UNSIGNED NOT NULL,
    article_id     BIGINT           NOT NULL,
    board_id       BIGINT           NOT NULL,
    writer_id      BIGINT           NOT NULL,
    version        BIGINT UNSIGNED  NOT NULL,
    created_at     BIGINT           NOT NULL,
    modified_at    BIGINT           NOT NULL,
    writer_name    VARCHAR(255)     NOT NULL,
    title          VARCHAR(255)     NOT NULL,
    content        MEDIUMTEXT       NOT NULL,
    content_html   MEDIUMTEXT       NOT NULL,
    removed_at     BIGINT           NOT NULL,
    moderator_id   BIGINT           NOT NULL,
    moderator_name VARCHAR(255)     NOT NULL,
    reason         TEXT             NOT NULL,
    PRIMARY KEY (shard, article_id),
    KEY article_removed_by_time (removed_at, article_id)
) ENGINE = InnoDB DEFAULT CHARSET = utf8mb4 COLLATE = utf8mb4_bin;
