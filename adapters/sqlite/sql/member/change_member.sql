-- Uses: unique index revocation_member. A new row, so that it lies after every cursor.
INSERT INTO revocation (member_id, role, standing)
VALUES (?1, ?2, ?3)
