-- What only a relay, an inbox and several processes need: here the log is the outbox, and one process has the file.
DROP TABLE IF EXISTS outbox;
DROP TABLE IF EXISTS outbox_parked_key;
DROP TABLE IF EXISTS processed_event;
DROP TABLE IF EXISTS instance;
