-- The database of the service hot-article as the version before left it, written by mariadb-dump; loaded by version_before.rs.
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
CREATE TABLE `hot_day` (
  `shard` tinyint(3) unsigned NOT NULL,
  `day` int(11) NOT NULL,
  `finalised_at` bigint(20) DEFAULT NULL,
  PRIMARY KEY (`shard`,`day`)
) ENGINE=InnoDB DEFAULT CHARSET=utf8mb4 COLLATE=utf8mb4_bin;
INSERT INTO `hot_day` VALUES
(2,20261114,1794872186384),
(11,20261111,1794872184597),
(28,20261115,1794872186722),
(38,20261110,1794872184051),
(45,20261113,1794872185989),
(54,20261116,NULL),
(63,20261112,1794872185227);
CREATE TABLE `hot_final` (
  `shard` tinyint(3) unsigned NOT NULL,
  `day` int(11) NOT NULL,
  `place` tinyint(3) unsigned NOT NULL,
  `article_id` bigint(20) NOT NULL,
  `score` bigint(20) unsigned NOT NULL,
  `like_count` bigint(20) unsigned NOT NULL,
  `comment_count` bigint(20) unsigned NOT NULL,
  `view_count` bigint(20) unsigned NOT NULL,
  PRIMARY KEY (`shard`,`day`,`place`),
  UNIQUE KEY `hot_final_article` (`shard`,`day`,`article_id`)
) ENGINE=InnoDB DEFAULT CHARSET=utf8mb4 COLLATE=utf8mb4_bin;
CREATE TABLE `hot_score` (
  `shard` tinyint(3) unsigned NOT NULL,
  `day` int(11) NOT NULL,
  `article_id` bigint(20) NOT NULL,
  `like_count` bigint(20) unsigned NOT NULL,
  `like_version` bigint(20) unsigned NOT NULL,
  `comment_count` bigint(20) unsigned NOT NULL,
  `comment_version` bigint(20) unsigned NOT NULL,
  `view_count` bigint(20) unsigned NOT NULL,
  `view_version` bigint(20) unsigned NOT NULL,
  `deleted` tinyint(3) unsigned NOT NULL,
  `falling_score` bigint(20) NOT NULL,
  PRIMARY KEY (`shard`,`day`,`article_id`),
  KEY `hot_ranking` (`shard`,`day`,`falling_score`,`article_id`)
) ENGINE=InnoDB DEFAULT CHARSET=utf8mb4 COLLATE=utf8mb4_bin;
INSERT INTO `hot_score` VALUES
(54,20261116,380863687324925952,1,1,2,2,1,1,0,-8);
CREATE TABLE `lane_batch` (
  `lane_id` bigint(20) unsigned NOT NULL,
  `number` bigint(20) unsigned NOT NULL,
  `written_at` bigint(20) NOT NULL,
  PRIMARY KEY (`lane_id`),
  KEY `lane_batch_age` (`written_at`)
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
CREATE TABLE `schema_backbone` (
  `version` int(11) NOT NULL,
  `name` varchar(255) DEFAULT NULL,
  `applied_on` varchar(255) DEFAULT NULL,
  `checksum` varchar(255) DEFAULT NULL,
  PRIMARY KEY (`version`)
) ENGINE=InnoDB DEFAULT CHARSET=utf8mb4 COLLATE=utf8mb4_bin;
INSERT INTO `schema_backbone` VALUES
(1,'backbone','2026-11-16T23:36:18.045939471Z','13506449456995602408');
CREATE TABLE `schema_history` (
  `version` int(11) NOT NULL,
  `name` varchar(255) DEFAULT NULL,
  `applied_on` varchar(255) DEFAULT NULL,
  `checksum` varchar(255) DEFAULT NULL,
  PRIMARY KEY (`version`)
) ENGINE=InnoDB DEFAULT CHARSET=utf8mb4 COLLATE=utf8mb4_bin;
INSERT INTO `schema_history` VALUES
(1,'hot_articles','2026-11-16T23:36:18.061649605Z','8109633269760735682');
CREATE TABLE `topology` (
  `id` tinyint(3) unsigned NOT NULL,
  `shard_map` varbinary(1024) NOT NULL,
  `server` tinyint(3) unsigned NOT NULL,
  PRIMARY KEY (`id`)
) ENGINE=InnoDB DEFAULT CHARSET=utf8mb4 COLLATE=utf8mb4_bin;
INSERT INTO `topology` VALUES
(1,0x302D36333D30,0);
