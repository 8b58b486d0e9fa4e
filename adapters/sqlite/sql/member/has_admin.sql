-- Uses: partial index member_admin (covering).
SELECT EXISTS (SELECT 1 FROM member WHERE role = 'admin')
