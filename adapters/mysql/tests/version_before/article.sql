-- The database of the service article as the version before left it, written by mariadb-dump; loaded by version_before.rs.
CREATE TABLE `article` (
  `shard` tinyint(3) unsigned NOT NULL,
  `article_id` bigint(20) NOT NULL,
  `board_id` bigint(20) NOT NULL,
  `writer_id` bigint(20) NOT NULL,
  `version` bigint(20) unsigned NOT NULL,
  `created_at` bigint(20) NOT NULL,
  `modified_at` bigint(20) NOT NULL,
  `writer_name` varchar(255) NOT NULL,
  `title` varchar(255) NOT NULL,
  `content` mediumtext NOT NULL,
  `content_html` mediumtext NOT NULL,
  PRIMARY KEY (`shard`,`article_id`),
  KEY `article_by_board` (`board_id`,`article_id`),
  KEY `article_by_writer` (`writer_id`,`article_id`)
) ENGINE=InnoDB DEFAULT CHARSET=utf8mb4 COLLATE=utf8mb4_bin;
INSERT INTO `article` VALUES
(25,380863686788055040,380863686280544256,380863683565191168,1,1794872179035,1794872179035,'root_admin','First','Text of First','<p>Text of First</p>\n'),
(25,380863687324925952,380863686280544256,380863683565191168,1,1794872179163,1794872179163,'root_admin','Second','Text of Second','<p>Text of Second</p>\n');
CREATE TABLE `article_block` (
  `shard` tinyint(3) unsigned NOT NULL,
  `board_id` bigint(20) NOT NULL,
  `level` tinyint(3) unsigned NOT NULL,
  `first_id` bigint(20) NOT NULL,
  `article_count` bigint(20) unsigned NOT NULL,
  PRIMARY KEY (`shard`,`board_id`,`level`,`first_id`)
) ENGINE=InnoDB DEFAULT CHARSET=utf8mb4 COLLATE=utf8mb4_bin;
INSERT INTO `article_block` VALUES
(25,380863686280544256,1,0,2),
(25,380863686280544256,2,0,2);
CREATE TABLE `board` (
  `shard` tinyint(3) unsigned NOT NULL,
  `board_id` bigint(20) NOT NULL,
  `slug` varbinary(255) NOT NULL,
  `title` varchar(255) NOT NULL,
  `comment_mode` varbinary(16) NOT NULL,
  `created_at` bigint(20) NOT NULL,
  PRIMARY KEY (`shard`,`board_id`),
  UNIQUE KEY `board_slug` (`shard`,`slug`)
) ENGINE=InnoDB DEFAULT CHARSET=utf8mb4 COLLATE=utf8mb4_bin;
INSERT INTO `board` VALUES
(0,380863683324215296,0x67656E6572616C,'General',0x74776F5F6C6576656C,1794872178209),
(0,380863686280544256,0x737175617265,'Square',0x74726565,1794872178914);
CREATE TABLE `board_article_count` (
  `shard` tinyint(3) unsigned NOT NULL,
  `board_id` bigint(20) NOT NULL,
  `article_count` bigint(20) unsigned NOT NULL,
  `version` bigint(20) unsigned NOT NULL,
  `greatest_id` bigint(20) NOT NULL,
  PRIMARY KEY (`shard`,`board_id`)
) ENGINE=InnoDB DEFAULT CHARSET=utf8mb4 COLLATE=utf8mb4_bin;
INSERT INTO `board_article_count` VALUES
(25,380863686280544256,2,2,380863687324925952),
(35,380863683324215296,0,0,0);
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
(2283889152167854957,2,1794872178918),
(12784715052682335555,2,1794872179165);
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
INSERT INTO `once_answer` VALUES
(25,380863683565191168,0x504F5354202F6170692F76312F626F617264732F3338303836333638363238303534343235362F61727469636C6573,0x4669727374,0x59ADD466CAEF44D0342CE337F088D5D9B05F2A718A65FBB2BEF7D45B951FFB9A,0x7B2261727469636C655F6964223A22333830383633363836373838303535303430222C22626F6172645F6964223A22333830383633363836323830353434323536222C227469746C65223A224669727374222C22636F6E74656E74223A2254657874206F66204669727374222C22636F6E74656E745F68746D6C223A223C703E54657874206F662046697273743C2F703E5C6E222C22777269746572223A7B226D656D6265725F6964223A22333830383633363833353635313931313638222C226E616D65223A22726F6F745F61646D696E227D2C22637265617465645F6174223A22323032362D31312D31365432333A33363A31392E3033355A222C226D6F6469666965645F6174223A22323032362D31312D31365432333A33363A31392E3033355A222C2276657273696F6E223A317D,1794872179038),
(25,380863683565191168,0x504F5354202F6170692F76312F626F617264732F3338303836333638363238303534343235362F61727469636C6573,0x5365636F6E64,0x6645740362F708FE843862E3E0C21CCF8F6EF7B21D66E53BE66180255C11FD87,0x7B2261727469636C655F6964223A22333830383633363837333234393235393532222C22626F6172645F6964223A22333830383633363836323830353434323536222C227469746C65223A225365636F6E64222C22636F6E74656E74223A2254657874206F66205365636F6E64222C22636F6E74656E745F68746D6C223A223C703E54657874206F66205365636F6E643C2F703E5C6E222C22777269746572223A7B226D656D6265725F6964223A22333830383633363833353635313931313638222C226E616D65223A22726F6F745F61646D696E227D2C22637265617465645F6174223A22323032362D31312D31365432333A33363A31392E3136335A222C226D6F6469666965645F6174223A22323032362D31312D31365432333A33363A31392E3136335A222C2276657273696F6E223A317D,1794872179163);
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
(1,'backbone','2026-11-16T23:36:17.921858728Z','13506449456995602408');
CREATE TABLE `schema_history` (
  `version` int(11) NOT NULL,
  `name` varchar(255) DEFAULT NULL,
  `applied_on` varchar(255) DEFAULT NULL,
  `checksum` varchar(255) DEFAULT NULL,
  PRIMARY KEY (`version`)
) ENGINE=InnoDB DEFAULT CHARSET=utf8mb4 COLLATE=utf8mb4_bin;
INSERT INTO `schema_history` VALUES
(1,'articles','2026-11-16T23:36:17.9387759Z','18064745581662104046'),
(2,'moderation','2026-11-16T23:36:17.948897233Z','423781031771205008');
CREATE TABLE `topology` (
  `id` tinyint(3) unsigned NOT NULL,
  `shard_map` varbinary(1024) NOT NULL,
  `server` tinyint(3) unsigned NOT NULL,
  PRIMARY KEY (`id`)
) ENGINE=InnoDB DEFAULT CHARSET=utf8mb4 COLLATE=utf8mb4_bin;
INSERT INTO `topology` VALUES
(1,0x302D36333D30,0);
