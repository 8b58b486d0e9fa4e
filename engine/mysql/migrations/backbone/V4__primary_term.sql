-- Which member of this server was last taken for its primary, and how often that has changed: of two members that both take
-- writes, the one with the smaller term is a primary that came back after another had taken its place. `primary_id` is the
-- member's `server_id`, which replication keeps unique; 0 is nobody yet.
ALTER TABLE topology
    ADD COLUMN term       BIGINT UNSIGNED NOT NULL DEFAULT 0,
    ADD COLUMN primary_id BIGINT UNSIGNED NOT NULL DEFAULT 0;
