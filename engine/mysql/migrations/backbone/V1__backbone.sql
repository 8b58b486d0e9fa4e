-- What every service's database has beside its own tables: topology, batch numbers, outbox, dead letters, inbox.
-- Keys are compared byte by byte; `shard` leads every primary key of what belongs to a shard, so that one is a range.

-- One row: which shards live where, and which of the servers this is. Checked at every start.
CREATE TABLE topology (
    id         TINYINT UNSIGNED NOT NULL PRIMARY KEY,
    shard_map  VARBINARY(1024)  NOT NULL,
    server     TINYINT UNSIGNED NOT NULL
) ENGINE = InnoDB;

-- The last batch that each lane committed: tells whether a COMMIT without a reply went through. Of this server alone.
CREATE TABLE lane_batch (
    lane_id    BIGINT UNSIGNED NOT NULL PRIMARY KEY,
    number     BIGINT UNSIGNED NOT NULL,
    written_at BIGINT          NOT NULL,
    KEY lane_batch_age (written_at)
) ENGINE = InnoDB;

-- Messages that wait for a relay. A row is unsent for as long as it exists.
CREATE TABLE outbox (
    shard       TINYINT UNSIGNED NOT NULL,
    row_id      BIGINT UNSIGNED  NOT NULL AUTO_INCREMENT,
    event_id    BIGINT           NOT NULL,
    topic       VARBINARY(255)   NOT NULL,
    message_key VARBINARY(255)   NOT NULL,
    occurred_at BIGINT           NOT NULL,
    headers     MEDIUMBLOB       NOT NULL,
    payload     LONGBLOB         NOT NULL,
    inserted_at BIGINT           NOT NULL,
    attempts    INT UNSIGNED     NOT NULL DEFAULT 0,
    PRIMARY KEY (shard, row_id),
    KEY outbox_row (row_id),
    UNIQUE KEY outbox_event (event_id),
    KEY outbox_key (shard, message_key)
) ENGINE = InnoDB;

-- Keys that wait because a row of theirs failed by itself.
CREATE TABLE outbox_parked_key (
    shard       TINYINT UNSIGNED NOT NULL,
    message_key VARBINARY(255)   NOT NULL,
    until_ms    BIGINT           NOT NULL,
    reason      MEDIUMBLOB       NOT NULL,
    PRIMARY KEY (shard, message_key)
) ENGINE = InnoDB;

-- Messages that a relay gave up, until a person replays or dismisses them.
CREATE TABLE dead_letter (
    shard       TINYINT UNSIGNED NOT NULL,
    event_id    BIGINT           NOT NULL,
    topic       VARBINARY(255)   NOT NULL,
    message_key VARBINARY(255)   NOT NULL,
    occurred_at BIGINT           NOT NULL,
    headers     MEDIUMBLOB       NOT NULL,
    payload     LONGBLOB         NOT NULL,
    died_at     BIGINT           NOT NULL,
    PRIMARY KEY (shard, event_id)
) ENGINE = InnoDB;

-- Events whose effect a group has applied.
CREATE TABLE processed_event (
    shard        TINYINT UNSIGNED NOT NULL,
    group_name   VARBINARY(255)   NOT NULL,
    event_id     BIGINT           NOT NULL,
    processed_at BIGINT           NOT NULL,
    PRIMARY KEY (shard, group_name, event_id),
    KEY processed_event_age (processed_at)
) ENGINE = InnoDB;
