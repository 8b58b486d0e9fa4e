-- Uses: primary key of article_view_count.
INSERT INTO article_view_count (article_id, view_count, version)
VALUES (?1, ?2, ?3)
ON CONFLICT (article_id) DO UPDATE SET view_count = excluded.view_count, version = excluded.version
