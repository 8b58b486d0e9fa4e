-- Whether the site has an administrator besides this one. Uses: partial index member_admin (covering).
SELECT EXISTS (SELECT 1 FROM member WHERE role = 'admin' AND member_id <> ?1)
