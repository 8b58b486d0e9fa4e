-- Only the newest state of a member matters, so an older row gives way. Uses: revocation_member.
DELETE r FROM revocation r FORCE INDEX (revocation_member)
WHERE r.shard = 0 AND r.member_id IN (
-- rows, joined by ,
?
-- after the rows
)
