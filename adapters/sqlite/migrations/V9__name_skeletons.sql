-- What each name looks like, so that nobody registers another's looks. NULL for members from before until it is worked out;
-- of those among them who look the same, all but the first have one that is nobody's looks.
ALTER TABLE member ADD COLUMN skeleton TEXT;
CREATE UNIQUE INDEX member_skeleton ON member (skeleton);
-- Who runs the site: a few rows.
CREATE INDEX member_staff ON member (role) WHERE role <> 'member';
