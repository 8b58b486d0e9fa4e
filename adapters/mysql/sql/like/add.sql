-- One like that was not there a moment ago; one that is there now is an error, and the call looks again. Uses: primary key
-- of article_like.
INSERT INTO article_like (shard, article_id, member_id, member_name, created_at)
VALUES (?, ?, ?, ?, ?)
