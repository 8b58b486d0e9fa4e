-- Answers to requests that carried an Idempotency-Key; `member_id` is whoever asked.
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
