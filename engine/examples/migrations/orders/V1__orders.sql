-- The orders of the shop. The shard leads the key, so that a shard is one range to move.
CREATE TABLE orders (
    shard    TINYINT UNSIGNED NOT NULL,
    order_id BIGINT           NOT NULL,
    sku      VARCHAR(32)      NOT NULL,
    quantity INT UNSIGNED     NOT NULL,
    PRIMARY KEY (shard, order_id)
);
