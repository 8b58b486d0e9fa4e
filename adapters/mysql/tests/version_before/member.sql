-- The database of the service member as the version before left it, written by mariadb-dump; loaded by version_before.rs.
CREATE TABLE `copy_progress` (
  `shard` tinyint(3) unsigned NOT NULL,
  `table_name` varbinary(64) NOT NULL,
  `last_key` mediumblob NOT NULL,
  `rows_copied` bigint(20) unsigned NOT NULL,
  PRIMARY KEY (`shard`,`table_name`)
) ENGINE=InnoDB DEFAULT CHARSET=utf8mb4 COLLATE=utf8mb4_bin;
CREATE TABLE `dead_letter` (
  `shard` tinyint(3) unsigned NOT NULL,
  `event_id` bigint(20) NOT NULL,
  `topic` varbinary(255) NOT NULL,
  `message_key` varbinary(255) NOT NULL,
  `occurred_at` bigint(20) NOT NULL,
  `headers` mediumblob NOT NULL,
  `payload` longblob NOT NULL,
  `died_at` bigint(20) NOT NULL,
  PRIMARY KEY (`shard`,`event_id`)
) ENGINE=InnoDB DEFAULT CHARSET=utf8mb4 COLLATE=utf8mb4_bin;
CREATE TABLE `instance` (
  `shard` tinyint(3) unsigned NOT NULL,
  `service` varbinary(64) NOT NULL,
  `instance` varbinary(255) NOT NULL,
  `beat_at` bigint(20) NOT NULL,
  PRIMARY KEY (`shard`,`service`,`instance`)
) ENGINE=InnoDB DEFAULT CHARSET=utf8mb4 COLLATE=utf8mb4_bin;
CREATE TABLE `lane_batch` (
  `lane_id` bigint(20) unsigned NOT NULL,
  `number` bigint(20) unsigned NOT NULL,
  `written_at` bigint(20) NOT NULL,
  PRIMARY KEY (`lane_id`),
  KEY `lane_batch_age` (`written_at`)
) ENGINE=InnoDB DEFAULT CHARSET=utf8mb4 COLLATE=utf8mb4_bin;
INSERT INTO `lane_batch` VALUES
(14174737107906697740,1,1794872178269);
CREATE TABLE `member` (
  `shard` tinyint(3) unsigned NOT NULL,
  `member_id` bigint(20) NOT NULL,
  `name` varchar(255) NOT NULL,
  `name_key` varbinary(512) NOT NULL,
  `role` varbinary(16) NOT NULL,
  `password_hash` varbinary(512) NOT NULL,
  `created_at` bigint(20) NOT NULL,
  `standing` varbinary(4096) DEFAULT NULL,
  PRIMARY KEY (`shard`,`member_id`),
  UNIQUE KEY `member_name_key` (`shard`,`name_key`),
  KEY `member_role` (`shard`,`role`)
) ENGINE=InnoDB DEFAULT CHARSET=utf8mb4 COLLATE=utf8mb4_bin;
INSERT INTO `member` VALUES
(0,380863683565191168,'root_admin',0x726F6F745F61646D696E,0x61646D696E,0x246172676F6E32696424763D3139246D3D31393435362C743D322C703D3124733550785569644D486F4366586961564E496871527724626256303131304D374F314E4F68514E547638496D592F7657337A6867515849414B73527067324656556B,1794872178267,NULL);
CREATE TABLE `moderation_act` (
  `shard` tinyint(3) unsigned NOT NULL,
  `act_id` bigint(20) NOT NULL,
  `kind` varbinary(32) NOT NULL,
  `moderator_id` bigint(20) NOT NULL,
  `moderator_name` varchar(255) NOT NULL,
  `subject` bigint(20) NOT NULL,
  `board_id` bigint(20) DEFAULT NULL,
  `acted_at` bigint(20) NOT NULL,
  `detail` varchar(255) NOT NULL,
  `reason` varchar(1000) NOT NULL,
  PRIMARY KEY (`shard`,`act_id`),
  KEY `moderation_act_by_id` (`act_id`),
  KEY `moderation_act_on_board` (`board_id`,`act_id`)
) ENGINE=InnoDB DEFAULT CHARSET=utf8mb4 COLLATE=utf8mb4_bin;
CREATE TABLE `node_lease` (
  `shard` tinyint(3) unsigned NOT NULL,
  `node` smallint(5) unsigned NOT NULL,
  `from_ms` bigint(20) NOT NULL,
  `until_ms` bigint(20) NOT NULL,
  PRIMARY KEY (`shard`,`node`)
) ENGINE=InnoDB DEFAULT CHARSET=utf8mb4 COLLATE=utf8mb4_bin;
INSERT INTO `node_lease` VALUES
(0,0,1794872183829,1794872183829),
(0,65535,0,0);
CREATE TABLE `outbox` (
  `shard` tinyint(3) unsigned NOT NULL,
  `row_id` bigint(20) unsigned NOT NULL AUTO_INCREMENT,
  `event_id` bigint(20) NOT NULL,
  `topic` varbinary(255) NOT NULL,
  `message_key` varbinary(255) NOT NULL,
  `occurred_at` bigint(20) NOT NULL,
  `headers` mediumblob NOT NULL,
  `payload` longblob NOT NULL,
  `inserted_at` bigint(20) NOT NULL,
  `attempts` int(10) unsigned NOT NULL DEFAULT 0,
  PRIMARY KEY (`shard`,`row_id`),
  UNIQUE KEY `outbox_event` (`event_id`),
  KEY `outbox_row` (`row_id`),
  KEY `outbox_key` (`shard`,`message_key`)
) ENGINE=InnoDB DEFAULT CHARSET=utf8mb4 COLLATE=utf8mb4_bin;
CREATE TABLE `outbox_parked_key` (
  `shard` tinyint(3) unsigned NOT NULL,
  `message_key` varbinary(255) NOT NULL,
  `until_ms` bigint(20) NOT NULL,
  `reason` mediumblob NOT NULL,
  PRIMARY KEY (`shard`,`message_key`)
) ENGINE=InnoDB DEFAULT CHARSET=utf8mb4 COLLATE=utf8mb4_bin;
CREATE TABLE `processed_event` (
  `shard` tinyint(3) unsigned NOT NULL,
  `group_name` varbinary(255) NOT NULL,
  `event_id` bigint(20) NOT NULL,
  `processed_at` bigint(20) NOT NULL,
  PRIMARY KEY (`shard`,`group_name`,`event_id`),
  KEY `processed_event_age` (`processed_at`)
) ENGINE=InnoDB DEFAULT CHARSET=utf8mb4 COLLATE=utf8mb4_bin;
CREATE TABLE `report` (
  `shard` tinyint(3) unsigned NOT NULL,
  `report_id` bigint(20) NOT NULL,
  `kind` varbinary(16) NOT NULL,
  `subject` bigint(20) NOT NULL,
  `article_id` bigint(20) NOT NULL,
  `board_id` bigint(20) NOT NULL,
  `reporter_id` bigint(20) NOT NULL,
  `reporter_name` varchar(255) NOT NULL,
  `reported_at` bigint(20) NOT NULL,
  `is_open` tinyint(3) unsigned NOT NULL,
  `resolved_by` bigint(20) DEFAULT NULL,
  `resolved_at` bigint(20) DEFAULT NULL,
  `reason` varchar(1000) NOT NULL,
  `note` varchar(1000) DEFAULT NULL,
  PRIMARY KEY (`shard`,`report_id`),
  UNIQUE KEY `report_once` (`shard`,`kind`,`subject`,`reporter_id`),
  KEY `report_by_state` (`shard`,`is_open`,`report_id`),
  KEY `report_on_board` (`shard`,`board_id`,`is_open`,`report_id`)
) ENGINE=InnoDB DEFAULT CHARSET=utf8mb4 COLLATE=utf8mb4_bin;
CREATE TABLE `revocation` (
  `shard` tinyint(3) unsigned NOT NULL,
  `position` bigint(20) NOT NULL,
  `session_id` bigint(20) DEFAULT NULL,
  `expires_at` bigint(20) DEFAULT NULL,
  `member_id` bigint(20) DEFAULT NULL,
  `role` varbinary(16) DEFAULT NULL,
  `standing` varbinary(4096) DEFAULT NULL,
  PRIMARY KEY (`shard`,`position`),
  UNIQUE KEY `revocation_session` (`shard`,`session_id`),
  UNIQUE KEY `revocation_member` (`shard`,`member_id`),
  KEY `revocation_expiry` (`shard`,`expires_at`)
) ENGINE=InnoDB DEFAULT CHARSET=utf8mb4 COLLATE=utf8mb4_bin;
CREATE TABLE `revocation_head` (
  `shard` tinyint(3) unsigned NOT NULL,
  `position` bigint(20) NOT NULL,
  PRIMARY KEY (`shard`)
) ENGINE=InnoDB DEFAULT CHARSET=utf8mb4 COLLATE=utf8mb4_bin;
CREATE TABLE `schema_backbone` (
  `version` int(11) NOT NULL,
  `name` varchar(255) DEFAULT NULL,
  `applied_on` varchar(255) DEFAULT NULL,
  `checksum` varchar(255) DEFAULT NULL,
  PRIMARY KEY (`version`)
) ENGINE=InnoDB DEFAULT CHARSET=utf8mb4 COLLATE=utf8mb4_bin;
INSERT INTO `schema_backbone` VALUES
(1,'backbone','2026-11-16T23:36:17.793583089Z','13506449456995602408');
CREATE TABLE `schema_copy` (
  `version` int(11) NOT NULL,
  `name` varchar(255) DEFAULT NULL,
  `applied_on` varchar(255) DEFAULT NULL,
  `checksum` varchar(255) DEFAULT NULL,
  PRIMARY KEY (`version`)
) ENGINE=InnoDB DEFAULT CHARSET=utf8mb4 COLLATE=utf8mb4_bin;
INSERT INTO `schema_copy` VALUES
(1,'copy','2026-11-16T23:36:17.816743446Z','11765107511736498888');
CREATE TABLE `schema_history` (
  `version` int(11) NOT NULL,
  `name` varchar(255) DEFAULT NULL,
  `applied_on` varchar(255) DEFAULT NULL,
  `checksum` varchar(255) DEFAULT NULL,
  PRIMARY KEY (`version`)
) ENGINE=InnoDB DEFAULT CHARSET=utf8mb4 COLLATE=utf8mb4_bin;
INSERT INTO `schema_history` VALUES
(1,'members','2026-11-16T23:36:17.822674709Z','9080243344711261067'),
(2,'moderation','2026-11-16T23:36:17.832600037Z','5260065986621329110');
CREATE TABLE `site_copy` (
  `shard` tinyint(3) unsigned NOT NULL,
  `site` varbinary(64) NOT NULL,
  `state` varbinary(64) NOT NULL,
  `began_at` bigint(20) NOT NULL,
  `finished_at` bigint(20) DEFAULT NULL,
  PRIMARY KEY (`shard`)
) ENGINE=InnoDB DEFAULT CHARSET=utf8mb4 COLLATE=utf8mb4_bin;
CREATE TABLE `topology` (
  `id` tinyint(3) unsigned NOT NULL,
  `shard_map` varbinary(1024) NOT NULL,
  `server` tinyint(3) unsigned NOT NULL,
  PRIMARY KEY (`id`)
) ENGINE=InnoDB DEFAULT CHARSET=utf8mb4 COLLATE=utf8mb4_bin;
INSERT INTO `topology` VALUES
(1,0x302D36333D30,0);
