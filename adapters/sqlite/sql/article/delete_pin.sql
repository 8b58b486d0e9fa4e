-- Uses: primary key of article_pin.
DELETE FROM article_pin
WHERE article_id = ?1
