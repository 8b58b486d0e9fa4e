-- Rows that are known to be missing under the lock of their counter, so that a list filled up with its last row is one
-- statement. Uses: primary key of article_like.
INSERT INTO article_like (shard, article_id, member_id, member_name, created_at)
VALUES
-- rows, joined by ,
(?, ?, ?, ?, ?)
-- after the rows
ON DUPLICATE KEY UPDATE member_name = VALUES(member_name)
