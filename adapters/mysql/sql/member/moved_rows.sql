-- Rows of every table that a move fills. Whole scans: a move reads everything.
SELECT 'member', COUNT(*) FROM member
UNION ALL
SELECT 'revocation', COUNT(*) FROM revocation
UNION ALL
SELECT 'moderation_act', COUNT(*) FROM moderation_act
UNION ALL
SELECT 'report', COUNT(*) FROM report
