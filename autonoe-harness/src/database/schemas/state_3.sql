-- An event with a key is kept once.
ALTER TABLE events ADD COLUMN key TEXT;

CREATE UNIQUE INDEX events_by_key ON events (key);
