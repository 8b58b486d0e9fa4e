-- Accounts and their ledger. The outbox is the engine's table `outbox`; the view shows it under the names of the design.
CREATE TABLE account (
    account_id SMALLINT UNSIGNED NOT NULL PRIMARY KEY,
    balance    BIGINT            NOT NULL,
    version    BIGINT UNSIGNED   NOT NULL,
    updated_at BIGINT            NOT NULL,
    CONSTRAINT account_not_below_zero CHECK (balance >= 0)
) ENGINE = InnoDB;

-- `balance` and `version` are those after the entry: the answer to whoever repeats the command.
CREATE TABLE ledger (
    tx_id      VARBINARY(64)     NOT NULL PRIMARY KEY,
    account_id SMALLINT UNSIGNED NOT NULL,
    amount     BIGINT            NOT NULL,
    balance    BIGINT            NOT NULL,
    version    BIGINT UNSIGNED   NOT NULL,
    created_at BIGINT            NOT NULL,
    UNIQUE KEY ledger_account (account_id, version)
) ENGINE = InnoDB;

-- A row exists until its event is published, so none is ever SENT; a parked one waits for its next attempt.
CREATE VIEW outbox_event AS
SELECT o.row_id                                                   AS id,
       o.event_id                                                 AS event_id,
       JSON_VALUE(CONVERT(o.payload USING utf8mb4), '$.tx_id')    AS dedup_key,
       JSON_VALUE(CONVERT(o.headers USING utf8mb4), '$[0][1]')    AS event_type,
       o.payload                                                  AS payload,
       IF(p.until_ms IS NULL, 'PENDING', 'PARKED')                AS status,
       o.attempts                                                 AS attempts,
       COALESCE(p.until_ms, o.inserted_at)                        AS next_attempt_at,
       o.topic                                                    AS topic,
       o.message_key                                              AS message_key,
       o.inserted_at                                              AS created_at
FROM outbox o
LEFT JOIN outbox_parked_key p ON p.shard = o.shard AND p.message_key = o.message_key;
