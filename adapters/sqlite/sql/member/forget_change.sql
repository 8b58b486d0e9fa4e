-- Uses: unique index revocation_member. Only the newest state of a member matters, so an older row gives way.
DELETE FROM revocation
WHERE member_id = ?1
