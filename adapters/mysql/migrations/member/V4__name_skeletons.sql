-- What each name looks like, so that nobody registers another's looks. NULL for members from before until it is worked out;
-- of those among them who look the same, all but the first have one that is nobody's looks.
ALTER TABLE member
    ADD COLUMN skeleton VARBINARY(600) NULL,
    ADD UNIQUE KEY member_skeleton (shard, skeleton);
