-- View counts as last written back, and the articles whose views are gone for good.

-- The version grows by one with each write-back, and each write-back adds at least one view.
CREATE TABLE article_view_count (
    shard      TINYINT UNSIGNED NOT NULL,
    article_id BIGINT           NOT NULL,
    view_count BIGINT UNSIGNED  NOT NULL,
    version    BIGINT UNSIGNED  NOT NULL,
    PRIMARY KEY (shard, article_id),
    KEY article_view_count_by_id (article_id)
) ENGINE = InnoDB;

-- Never removed: a late write-back must not bring a deleted article's count back.
CREATE TABLE view_article_gone (
    shard      TINYINT UNSIGNED NOT NULL,
    article_id BIGINT           NOT NULL,
    PRIMARY KEY (shard, article_id)
) ENGINE = InnoDB;
