-- Boards, articles, their counters and counted blocks, idempotency keys.

-- The directory of boards, on shard 0. A board's counter and articles live on the shard that its id carries.
CREATE TABLE board (
    shard        TINYINT UNSIGNED NOT NULL,
    board_id     BIGINT           NOT NULL,
    slug         VARBINARY(255)   NOT NULL,
    title        VARCHAR(255)     NOT NULL,
    comment_mode VARBINARY(16)    NOT NULL,
    created_at   BIGINT           NOT NULL,
    PRIMARY KEY (shard, board_id),
    UNIQUE KEY board_slug (shard, slug)
) ENGINE = InnoDB DEFAULT CHARSET = utf8mb4 COLLATE = utf8mb4_bin;

-- Changes in the transaction of every article, and is locked by each; greatest_id is the greatest article id ever seen.
CREATE TABLE board_article_count (
    shard         TINYINT UNSIGNED NOT NULL,
    board_id      BIGINT           NOT NULL,
    article_count BIGINT UNSIGNED  NOT NULL,
    version       BIGINT UNSIGNED  NOT NULL,
    greatest_id   BIGINT           NOT NULL,
    PRIMARY KEY (shard, board_id)
) ENGINE = InnoDB;

-- Level 1 are blocks, level 2 super-blocks. A block counts the ids from its first one up to the next block's.
CREATE TABLE article_block (
    shard         TINYINT UNSIGNED NOT NULL,
    board_id      BIGINT           NOT NULL,
    level         TINYINT UNSIGNED NOT NULL,
    first_id      BIGINT           NOT NULL,
    article_count BIGINT UNSIGNED  NOT NULL,
    PRIMARY KEY (shard, board_id, level, first_id)
) ENGINE = InnoDB;

CREATE TABLE article (
    shard        TINYINT UNSIGNED NOT NULL,
    article_id   BIGINT           NOT NULL,
    board_id     BIGINT           NOT NULL,
    writer_id    BIGINT           NOT NULL,
    version      BIGINT UNSIGNED  NOT NULL,
    created_at   BIGINT           NOT NULL,
    modified_at  BIGINT           NOT NULL,
    writer_name  VARCHAR(255)     NOT NULL,
    title        VARCHAR(255)     NOT NULL,
    content      MEDIUMTEXT       NOT NULL,
    content_html MEDIUMTEXT       NOT NULL,
    PRIMARY KEY (shard, article_id),
    KEY article_by_board (board_id, article_id),
    KEY article_by_writer (writer_id, article_id)
) ENGINE = InnoDB DEFAULT CHARSET = utf8mb4 COLLATE = utf8mb4_bin;

-- Answers to requests that carried an Idempotency-Key.
CREATE TABLE once_answer (
    shard       TINYINT UNSIGNED NOT NULL,
    member_id   BIGINT           NOT NULL,
    scope       VARBINARY(512)   NOT NULL,
    once_key    VARBINARY(255)   NOT NULL,
    fingerprint BINARY(32)       NOT NULL,
    answer      LONGBLOB         NOT NULL,
    answered_at BIGINT           NOT NULL,
    PRIMARY KEY (shard, member_id, scope, once_key),
    KEY once_answer_by_age (answered_at)
) ENGINE = InnoDB;
