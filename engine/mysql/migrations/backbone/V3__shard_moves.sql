-- Shards that change hands while everything runs.

-- 1 on every server while the shard is on its way: processes then read the map more often.
ALTER TABLE shard_map ADD COLUMN moving TINYINT UNSIGNED NOT NULL DEFAULT 0;

-- A shard on its way, on the server that it leaves and on the one that it goes to; what the latter says holds. `epoch` is the one
-- that its new owner will have. `run` is the command at work: each of its changes names it, so that a command that was paused
-- cannot undo what its successor did. Up to `last_key` of `table_name` is copied.
CREATE TABLE shard_move (
    shard       TINYINT UNSIGNED NOT NULL PRIMARY KEY,
    source      TINYINT UNSIGNED NOT NULL,
    target      TINYINT UNSIGNED NOT NULL,
    epoch       BIGINT UNSIGNED  NOT NULL,
    run         BIGINT UNSIGNED  NOT NULL,
    phase       TINYINT UNSIGNED NOT NULL,
    table_name  VARBINARY(64)    NOT NULL,
    last_key    BLOB             NOT NULL,
    switched_at BIGINT           NULL
) ENGINE = InnoDB;

-- Keys of rows of such shards that changed since they were copied, written by triggers in the transaction of the change. What
-- becomes of a row is read from the row itself.
CREATE TABLE shard_change (
    shard      TINYINT UNSIGNED NOT NULL,
    change_id  BIGINT UNSIGNED  NOT NULL AUTO_INCREMENT,
    table_name VARBINARY(64)    NOT NULL,
    row_key    BLOB             NOT NULL,
    PRIMARY KEY (shard, change_id),
    KEY shard_change_id (change_id)
) ENGINE = InnoDB;
