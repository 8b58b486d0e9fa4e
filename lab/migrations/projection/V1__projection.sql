-- What the consumer makes of events. `processed_event` is the engine's table with the columns of the design added.
ALTER TABLE processed_event
    ADD COLUMN consumer_group VARBINARY(255) GENERATED ALWAYS AS (group_name) VIRTUAL,
    ADD COLUMN dedup_key      VARBINARY(64)  NULL,
    ADD COLUMN source_topic   VARBINARY(255) NULL,
    ADD COLUMN `partition`    INT UNSIGNED   NULL,
    ADD COLUMN `offset`       BIGINT         NULL,
    ADD UNIQUE KEY processed_event_dedup (group_name, dedup_key);

-- `balance` and `version` are the latest by version. `entries` and `entries_sum` are counted, one event after another, so that
-- an event that was applied twice or not at all shows. `late` counts events that came after a newer one of their account.
CREATE TABLE account_projection (
    account_id  SMALLINT UNSIGNED NOT NULL PRIMARY KEY,
    balance     BIGINT            NOT NULL,
    version     BIGINT UNSIGNED   NOT NULL,
    updated_at  BIGINT            NOT NULL,
    entries     BIGINT UNSIGNED   NOT NULL DEFAULT 0,
    entries_sum BIGINT            NOT NULL DEFAULT 0,
    late        BIGINT UNSIGNED   NOT NULL DEFAULT 0
) ENGINE = InnoDB;

-- Accounts whose events cannot be applied now: why a message fails, for as long as the row is there.
CREATE TABLE account_hold (
    account_id SMALLINT UNSIGNED NOT NULL PRIMARY KEY,
    reason     VARCHAR(255)      NOT NULL
) ENGINE = InnoDB;
