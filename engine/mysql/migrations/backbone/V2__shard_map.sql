-- The map of shards as data: which servers there are, and which of them holds each shard. Every server has a copy, and is the
-- authority on the shards that it holds itself. The table `topology` stays as it was when the server was set up: the server's
-- own number, and the first map.

-- Host and port of each server. Users and passwords are the configuration's.
CREATE TABLE shard_server (
    server  TINYINT UNSIGNED NOT NULL PRIMARY KEY,
    address VARBINARY(300)   NOT NULL
) ENGINE = InnoDB;

-- `epoch` grows by one whenever the shard changes hands; of two copies the greater one holds. `writable` is 1 only on the server
-- that holds the shard, and 0 there while it is fenced: every transaction that writes to the shard locks the row shared and
-- wants to see 1, so that none commits past a fence.
CREATE TABLE shard_map (
    shard    TINYINT UNSIGNED NOT NULL PRIMARY KEY,
    server   TINYINT UNSIGNED NOT NULL,
    epoch    BIGINT UNSIGNED  NOT NULL,
    writable TINYINT UNSIGNED NOT NULL
) ENGINE = InnoDB;
