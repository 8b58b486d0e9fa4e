-- `went_back` counts how often an account showed an older version than before. The table counts it by itself, so that every
-- program that writes it is measured alike.
ALTER TABLE account_projection
    ADD COLUMN went_back BIGINT UNSIGNED NOT NULL DEFAULT 0;

CREATE TRIGGER account_projection_went_back BEFORE UPDATE ON account_projection FOR EACH ROW
    SET NEW.went_back = OLD.went_back + IF(NEW.version < OLD.version, 1, 0);
