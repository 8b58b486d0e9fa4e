-- The account of the cluster, on each server: it makes and owns the databases whose names start with the cluster's, and no other.
CREATE USER IF NOT EXISTS 'madang'@'%' IDENTIFIED BY 'change-me';
GRANT ALL PRIVILEGES ON `madang\_%`.* TO 'madang'@'%';
