-- The database of the service comment as the version before left it, written by mariadb-dump; loaded by version_before.rs.
CREATE TABLE `article_comment_count` (
  `shard` tinyint(3) unsigned NOT NULL,
  `article_id` bigint(20) NOT NULL,
  `comment_count` bigint(20) unsigned NOT NULL,
  `row_count` bigint(20) unsigned NOT NULL,
  `version` bigint(20) unsigned NOT NULL,
  `greatest_id` bigint(20) NOT NULL,
  PRIMARY KEY (`shard`,`article_id`),
  KEY `article_comment_count_by_id` (`article_id`)
) ENGINE=InnoDB DEFAULT CHARSET=utf8mb4 COLLATE=utf8mb4_bin;
INSERT INTO `article_comment_count` VALUES
(32,380863687324925952,2,2,2,380863688898248704);
CREATE TABLE `comment` (
  `shard` tinyint(3) unsigned NOT NULL,
  `comment_id` bigint(20) NOT NULL,
  `article_id` bigint(20) NOT NULL,
  `parent_id` bigint(20) NOT NULL,
  `depth` tinyint(3) unsigned NOT NULL,
  `deleted` tinyint(3) unsigned NOT NULL,
  `created_at` bigint(20) NOT NULL,
  `path` varbinary(250) DEFAULT NULL,
  `writer_id` bigint(20) DEFAULT NULL,
  `writer_name` varchar(255) DEFAULT NULL,
  `content` mediumtext DEFAULT NULL,
  PRIMARY KEY (`shard`,`comment_id`),
  UNIQUE KEY `comment_by_path` (`article_id`,`path`),
  KEY `comment_by_parent` (`article_id`,`parent_id`,`comment_id`),
  KEY `comment_by_writer` (`writer_id`,`comment_id`)
) ENGINE=InnoDB DEFAULT CHARSET=utf8mb4 COLLATE=utf8mb4_bin;
INSERT INTO `comment` VALUES
(32,380863688260714496,380863687324925952,380863688260714496,1,0,1794872179386,0x3030303030,380863683565191168,'root_admin','Hello'),
(32,380863688898248704,380863687324925952,380863688260714496,2,0,1794872179538,0x30303030303030303030,380863683565191168,'root_admin','Welcome');
CREATE TABLE `comment_article_gone` (
  `shard` tinyint(3) unsigned NOT NULL,
  `article_id` bigint(20) NOT NULL,
  PRIMARY KEY (`shard`,`article_id`)
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
CREATE TABLE `lane_batch` (
  `lane_id` bigint(20) unsigned NOT NULL,
  `number` bigint(20) unsigned NOT NULL,
  `written_at` bigint(20) NOT NULL,
  PRIMARY KEY (`lane_id`),
  KEY `lane_batch_age` (`written_at`)
) ENGINE=InnoDB DEFAULT CHARSET=utf8mb4 COLLATE=utf8mb4_bin;
INSERT INTO `lane_batch` VALUES
(6559666030733336268,2,1794872179540);
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
CREATE TABLE `once_answer` (
  `shard` tinyint(3) unsigned NOT NULL,
  `member_id` bigint(20) NOT NULL,
  `scope` varbinary(512) NOT NULL,
  `once_key` varbinary(255) NOT NULL,
  `fingerprint` binary(32) NOT NULL,
  `answer` longblob NOT NULL,
  `answered_at` bigint(20) NOT NULL,
  PRIMARY KEY (`shard`,`member_id`,`scope`,`once_key`),
  KEY `once_answer_by_age` (`answered_at`)
) ENGINE=InnoDB DEFAULT CHARSET=utf8mb4 COLLATE=utf8mb4_bin;
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
) ENGINE=InnoDB AUTO_INCREMENT=3 DEFAULT CHARSET=utf8mb4 COLLATE=utf8mb4_bin;
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
CREATE TABLE `schema_backbone` (
  `version` int(11) NOT NULL,
  `name` varchar(255) DEFAULT NULL,
  `applied_on` varchar(255) DEFAULT NULL,
  `checksum` varchar(255) DEFAULT NULL,
  PRIMARY KEY (`version`)
) ENGINE=InnoDB DEFAULT CHARSET=utf8mb4 COLLATE=utf8mb4_bin;
INSERT INTO `schema_backbone` VALUES
(1,'backbone','2026-11-16T23:36:17.958896194Z','13506449456995602408');
CREATE TABLE `schema_history` (
  `version` int(11) NOT NULL,
  `name` varchar(255) DEFAULT NULL,
  `applied_on` varchar(255) DEFAULT NULL,
  `checksum` varchar(255) DEFAULT NULL,
  PRIMARY KEY (`version`)
) ENGINE=InnoDB DEFAULT CHARSET=utf8mb4 COLLATE=utf8mb4_bin;
INSERT INTO `schema_history` VALUES
(1,'comments','2026-11-16T23:36:17.973311701Z','11305585328859700069'),
(2,'moderation','2026-11-16T23:36:17.981683138Z','423781031771205008');
CREATE TABLE `topology` (
  `id` tinyint(3) unsigned NOT NULL,
  `shard_map` varbinary(1024) NOT NULL,
  `server` tinyint(3) unsigned NOT NULL,
  PRIMARY KEY (`id`)
) ENGINE=InnoDB DEFAULT CHARSET=utf8mb4 COLLATE=utf8mb4_bin;
INSERT INTO `topology` VALUES
(1,0x302D36333D30,0);
