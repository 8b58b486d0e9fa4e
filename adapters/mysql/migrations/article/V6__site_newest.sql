-- The newest articles of all boards.
ALTER TABLE article ADD KEY article_by_id (article_id);
