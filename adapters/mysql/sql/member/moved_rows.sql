-- Rows of every table that a move fills. Whole scans: a move reads everything.
SELECT 'member', COUNT(*) FROM member
UNION ALL
SELECT 'revocation', COUNT(*) FROM revocation
