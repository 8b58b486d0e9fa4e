-- Members, revocations, node leases and instances: small global data, all of it on shard 0.

CREATE TABLE member (
    shard         TINYINT UNSIGNED NOT NULL,
    member_id     BIGINT           NOT NULL,
    name          VARCHAR(255)     NOT NULL,
    name_key      VARBINARY(512)   NOT NULL,
    role          VARBINARY(16)    NOT NULL,
    password_hash VARBINARY(512)   NOT NULL,
    created_at    BIGINT           NOT NULL,
    PRIMARY KEY (shard, member_id),
    UNIQUE KEY member_name_key (shard, name_key),
    KEY member_role (shard, role)
) ENGINE = InnoDB DEFAULT CHARSET = utf8mb4 COLLATE = utf8mb4_bin;

-- What signed tokens do not know, in commit order: a position is given under the lock of revocation_head.
CREATE TABLE revocation (
    shard      TINYINT UNSIGNED NOT NULL,
    position   BIGINT           NOT NULL,
    session_id BIGINT           NULL,
    expires_at BIGINT           NULL,
    member_id  BIGINT           NULL,
    role       VARBINARY(16)    NULL,
    PRIMARY KEY (shard, position),
    UNIQUE KEY revocation_session (shard, session_id),
    UNIQUE KEY revocation_member (shard, member_id),
    KEY revocation_expiry (shard, expires_at)
) ENGINE = InnoDB;

-- One row: the last position that was given. Whoever revokes locks it first.
CREATE TABLE revocation_head (
    shard    TINYINT UNSIGNED NOT NULL PRIMARY KEY,
    position BIGINT           NOT NULL
) ENGINE = InnoDB;

-- Which id times of a node number have been given away.
CREATE TABLE node_lease (
    shard    TINYINT UNSIGNED  NOT NULL,
    node     SMALLINT UNSIGNED NOT NULL,
    from_ms  BIGINT            NOT NULL,
    until_ms BIGINT            NOT NULL,
    PRIMARY KEY (shard, node)
) ENGINE = InnoDB;

-- Instances of services and when they were last heard, by this store's clock.
CREATE TABLE instance (
    shard    TINYINT UNSIGNED NOT NULL,
    service  VARBINARY(64)    NOT NULL,
    instance VARBINARY(255)   NOT NULL,
    beat_at  BIGINT           NOT NULL,
    PRIMARY KEY (shard, service, instance)
) ENGINE = InnoDB;
