-- Of some sessions those that have ended. Uses: revocation_session (covering).
SELECT session_id
FROM revocation FORCE INDEX (revocation_session)
WHERE shard = 0 AND session_id IN (
-- rows, joined by ,
?
-- after the rows
)
