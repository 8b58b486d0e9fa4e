-- Comments of both arrangements, their counters, and the articles whose comments are gone for ever.

-- A root is its own parent. A path is bytes, so that it orders as a tree does; two levels have none. A comment that was
-- deleted while it had replies is a mark: neither text nor writer.
CREATE TABLE comment (
    shard       TINYINT UNSIGNED NOT NULL,
    comment_id  BIGINT           NOT NULL,
    article_id  BIGINT           NOT NULL,
    parent_id   BIGINT           NOT NULL,
    depth       TINYINT UNSIGNED NOT NULL,
    deleted     TINYINT UNSIGNED NOT NULL,
    created_at  BIGINT           NOT NULL,
    path        VARBINARY(250)   NULL,
    writer_id   BIGINT           NULL,
    writer_name VARCHAR(255)     NULL,
    content     MEDIUMTEXT       NULL,
    PRIMARY KEY (shard, comment_id),
    UNIQUE KEY comment_by_path (article_id, path),
    KEY comment_by_parent (article_id, parent_id, comment_id),
    KEY comment_by_writer (writer_id, comment_id)
) ENGINE = InnoDB DEFAULT CHARSET = utf8mb4 COLLATE = utf8mb4_bin;

-- Changes in the transaction of every comment, and is locked by each. row_count counts the marks too; greatest_id is the
-- greatest comment id ever seen on the article.
CREATE TABLE article_comment_count (
    shard         TINYINT UNSIGNED NOT NULL,
    article_id    BIGINT           NOT NULL,
    comment_count BIGINT UNSIGNED  NOT NULL,
    row_count     BIGINT UNSIGNED  NOT NULL,
    version       BIGINT UNSIGNED  NOT NULL,
    greatest_id   BIGINT           NOT NULL,
    PRIMARY KEY (shard, article_id),
    KEY article_comment_count_by_id (article_id)
) ENGINE = InnoDB;

-- Deleted articles. Kept for ever, so that nothing late brings a comment back.
CREATE TABLE comment_article_gone (
    shard      TINYINT UNSIGNED NOT NULL,
    article_id BIGINT           NOT NULL,
    PRIMARY KEY (shard, article_id)
) ENGINE = InnoDB;

-- Answers to requests that carried an Idempotency-Key; those to comments carry no text.
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
