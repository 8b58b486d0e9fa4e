-- Likes, their counters, and the articles whose likes are gone for ever.

-- Who likes what; the name is the one they had then.
CREATE TABLE article_like (
    shard       TINYINT UNSIGNED NOT NULL,
    article_id  BIGINT           NOT NULL,
    member_id   BIGINT           NOT NULL,
    member_name VARCHAR(255)     NOT NULL,
    created_at  BIGINT           NOT NULL,
    PRIMARY KEY (shard, article_id, member_id)
) ENGINE = InnoDB DEFAULT CHARSET = utf8mb4 COLLATE = utf8mb4_bin;

-- Changes in the transaction of the rows it counts; the version grows by one with each such transaction.
CREATE TABLE article_like_count (
    shard      TINYINT UNSIGNED NOT NULL,
    article_id BIGINT           NOT NULL,
    like_count BIGINT UNSIGNED  NOT NULL,
    version    BIGINT UNSIGNED  NOT NULL,
    PRIMARY KEY (shard, article_id),
    KEY article_like_count_by_id (article_id)
) ENGINE = InnoDB;

-- Deleted articles. Kept for ever, so that nothing late brings a like back.
CREATE TABLE like_article_gone (
    shard      TINYINT UNSIGNED NOT NULL,
    article_id BIGINT           NOT NULL,
    PRIMARY KEY (shard, article_id)
) ENGINE = InnoDB;
