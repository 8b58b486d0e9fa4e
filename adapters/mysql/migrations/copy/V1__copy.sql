-- A site that moves here from elsewhere: whose it is, and how far it has come. On shard 0, in the members' database.

-- One row once a copy has begun; `state` tells whether its source has changed since.
CREATE TABLE site_copy (
    shard       TINYINT UNSIGNED NOT NULL PRIMARY KEY,
    site        VARBINARY(64)    NOT NULL,
    state       VARBINARY(64)    NOT NULL,
    began_at    BIGINT           NOT NULL,
    finished_at BIGINT           NULL
) ENGINE = InnoDB;

-- The key of the last row of each table that is here, as its source writes it.
CREATE TABLE copy_progress (
    shard       TINYINT UNSIGNED NOT NULL,
    table_name  VARBINARY(64)    NOT NULL,
    last_key    MEDIUMBLOB       NOT NULL,
    rows_copied BIGINT UNSIGNED  NOT NULL,
    PRIMARY KEY (shard, table_name)
) ENGINE = InnoDB;
