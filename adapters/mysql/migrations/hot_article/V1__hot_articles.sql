-- Scores of articles on the day of their creation, and the lists of days that are over. All rows of a day are on one shard,
-- so that its ranking is one transaction. A day is a date in digits, 20261115.

-- Days that anything is known of. Whoever changes a day locks its row first; finalised_at is set once its list is final.
CREATE TABLE hot_day (
    shard        TINYINT UNSIGNED NOT NULL,
    day          INT              NOT NULL,
    finalised_at BIGINT           NULL,
    PRIMARY KEY (shard, day)
) ENGINE = InnoDB;

-- Counts with their versions, from events that occurred on the day. A deleted article keeps an empty row, so that nothing
-- late brings it back. falling_score is the score below zero, so that the ranking is an index in its own order, best first
-- and of equals the earlier article; 0 has no place in it.
CREATE TABLE hot_score (
    shard           TINYINT UNSIGNED NOT NULL,
    day             INT              NOT NULL,
    article_id      BIGINT           NOT NULL,
    like_count      BIGINT UNSIGNED  NOT NULL,
    like_version    BIGINT UNSIGNED  NOT NULL,
    comment_count   BIGINT UNSIGNED  NOT NULL,
    comment_version BIGINT UNSIGNED  NOT NULL,
    view_count      BIGINT UNSIGNED  NOT NULL,
    view_version    BIGINT UNSIGNED  NOT NULL,
    deleted         TINYINT UNSIGNED NOT NULL,
    falling_score   BIGINT           NOT NULL,
    PRIMARY KEY (shard, day, article_id),
    KEY hot_ranking (shard, day, falling_score, article_id)
) ENGINE = InnoDB;

-- The final lists; a deletion leaves a gap between the places.
CREATE TABLE hot_final (
    shard         TINYINT UNSIGNED NOT NULL,
    day           INT              NOT NULL,
    place         TINYINT UNSIGNED NOT NULL,
    article_id    BIGINT           NOT NULL,
    score         BIGINT UNSIGNED  NOT NULL,
    like_count    BIGINT UNSIGNED  NOT NULL,
    comment_count BIGINT UNSIGNED  NOT NULL,
    view_count    BIGINT UNSIGNED  NOT NULL,
    PRIMARY KEY (shard, day, place),
    UNIQUE KEY hot_final_article (shard, day, article_id)
) ENGINE = InnoDB;
