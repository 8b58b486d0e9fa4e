-- Which discussions are active: beside the count of an article's comments stand its board and its newest visible comment, in the
-- transaction of every comment. noted_version is the version of the count that the note belongs to: a row of another version
-- was written by a version that did not note, and its newest comment is looked for.
ALTER TABLE article_comment_count
    ADD COLUMN board_id BIGINT NULL,
    ADD COLUMN noted_version BIGINT UNSIGNED NOT NULL DEFAULT 0,
    ADD COLUMN last_comment_id BIGINT NULL,
    ADD COLUMN last_at BIGINT NULL,
    ADD COLUMN last_writer_id BIGINT NULL,
    ADD COLUMN last_writer_name VARCHAR(255) CHARACTER SET utf8mb4 COLLATE utf8mb4_bin NULL,
    ADD KEY article_comment_count_by_activity (last_at, article_id),
    ADD KEY article_comment_count_on_board (board_id, last_at, article_id);
-- Begins with what no other statement asks for alone, so that none takes it for its own index.
ALTER TABLE comment ADD KEY comment_visible (deleted, article_id, comment_id);
