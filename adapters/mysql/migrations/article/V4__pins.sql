-- Articles that moderators keep on top of their board, at most a few of each. Goes with its article, in one transaction.
CREATE TABLE article_pin (
    shard      TINYINT UNSIGNED NOT NULL,
    article_id BIGINT           NOT NULL,
    board_id   BIGINT           NOT NULL,
    pinned_at  BIGINT           NOT NULL,
    until      BIGINT           NULL,
    PRIMARY KEY (shard, article_id),
    KEY article_pin_by_board (board_id)
) ENGINE = InnoDB;
