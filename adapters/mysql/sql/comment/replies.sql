-- Some replies of each comment, as many as decide whether one is left. Uses: comment_by_parent (covering).
-- rows, joined by UNION ALL
(SELECT parent_id, comment_id
 FROM comment FORCE INDEX (comment_by_parent)
 WHERE article_id = ? AND parent_id = ? AND comment_id <> ?
 ORDER BY comment_id
 LIMIT ?)
