-- Which id times of a node number have been given away.
CREATE TABLE node_lease (
    shard    TINYINT UNSIGNED  NOT NULL,
    node     SMALLINT UNSIGNED NOT NULL,
    from_ms  BIGINT            NOT NULL,
    until_ms BIGINT            NOT NULL,
    PRIMARY KEY (shard, node)
) ENGINE = InnoDB;
