-- Uses: primary key of hot_score.
INSERT INTO hot_score (
    day, article_id, like_count, like_version, comment_count, comment_version, view_count, view_version, deleted, score,
    hidden, hidden_version
)
VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10, ?11, ?12)
ON CONFLICT (day, article_id) DO UPDATE SET
    like_count = excluded.like_count,
    like_version = excluded.like_version,
    comment_count = excluded.comment_count,
    comment_version = excluded.comment_version,
    view_count = excluded.view_count,
    view_version = excluded.view_version,
    deleted = excluded.deleted,
    score = excluded.score,
    hidden = excluded.hidden,
    hidden_version = excluded.hidden_version
