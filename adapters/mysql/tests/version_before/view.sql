-- The database of the service view as the version before left it, written by mariadb-dump; loaded by version_before.rs.
CREATE TABLE `article_view_count` (
  `shard` tinyint(3) unsigned NOT NULL,
  `article_id` bigint(20) NOT NULL,
  `view_count` bigint(20) unsigned NOT NULL,
  `version` bigint(20) unsigned NOT NULL,
  PRIMARY KEY (`shard`,`article_id`),
  KEY `article_view_count_by_id` (`article_id`)
) ENGINE=InnoDB DEFAULT CHARSET=utf8mb4 COLLATE=utf8mb4_bin;
INSERT INTO `article_view_count` VALUES
(32,380863687324925952,1,1);
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
(17734996230996476117,1,1794872183830);
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
) ENGINE=InnoDB AUTO_INCREMENT=2 DEFAULT CHARSET=utf8mb4 COLLATE=utf8mb4_bin;
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
(1,'backbone','2026-11-16T23:36:18.018756757Z','13506449456995602408');
CREATE TABLE `schema_history` (
  `version` int(11) NOT NULL,
  `name` varchar(255) DEFAULT NULL,
  `applied_on` varchar(255) DEFAULT NULL,
  `checksum` varchar(255) DEFAULT NULL,
  PRIMARY KEY (`version`)
) ENGINE=InnoDB DEFAULT CHARSET=utf8mb4 COLLATE=utf8mb4_bin;
INSERT INTO `schema_history` VALUES
(1,'views','2026-11-16T23:36:18.034870995Z','8789780525036427216');
CREATE TABLE `topology` (
  `id` tinyint(3) unsigned NOT NULL,
  `shard_map` varbinary(1024) NOT NULL,
  `server` tinyint(3) unsigned NOT NULL,
  PRIMARY KEY (`id`)
) ENGINE=InnoDB DEFAULT CHARSET=utf8mb4 COLLATE=utf8mb4_bin;
INSERT INTO `topology` VALUES
(1,0x302D36333D30,0);
CREATE TABLE `view_article_gone` (
  `shard` tinyint(3) unsigned NOT NULL,
  `article_id` bigint(20) NOT NULL,
  PRIMARY KEY (`shard`,`article_id`)
) ENGINE=InnoDB DEFAULT CHARSET=utf8mb4 COLLATE=utf8mb4_bin;
