-- The map as a server is given it when it is set up. Uses: primary key of shard_map.
INSERT INTO shard_map (shard, server, epoch, writable)
VALUES
-- rows, joined by ,
(?, ?, ?, ?)
