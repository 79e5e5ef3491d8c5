-- Whose state this is: one row at most.
CREATE TABLE harness (
    one INTEGER PRIMARY KEY CHECK (one = 1),
    id TEXT NOT NULL,
    roadmap TEXT,
    created_at TEXT NOT NULL
) STRICT;

CREATE TABLE tasks (
    id TEXT PRIMARY KEY,
    position INTEGER NOT NULL,
    task TEXT NOT NULL,
    status TEXT NOT NULL,
    output TEXT,
    error TEXT,
    attempts INTEGER NOT NULL,
    owner TEXT,
    epoch INTEGER NOT NULL,
    lease_until TEXT,
    updated_at TEXT NOT NULL
) STRICT;

CREATE INDEX tasks_in_order ON tasks (position, id);

CREATE TABLE dependencies (
    task TEXT NOT NULL REFERENCES tasks (id),
    place INTEGER NOT NULL,
    needs TEXT NOT NULL,
    PRIMARY KEY (task, place)
) STRICT, WITHOUT ROWID;

-- A claim is a row here, and its key is its epoch: it rises and is never used again.
CREATE TABLE attempts (
    epoch INTEGER PRIMARY KEY AUTOINCREMENT,
    task TEXT NOT NULL REFERENCES tasks (id),
    attempt INTEGER NOT NULL,
    owner TEXT NOT NULL,
    started_at TEXT NOT NULL,
    ended_at TEXT,
    ending TEXT
) STRICT;

CREATE INDEX attempts_of_task ON attempts (task);

CREATE TABLE executions (
    number INTEGER PRIMARY KEY AUTOINCREMENT,
    task TEXT NOT NULL REFERENCES tasks (id),
    attempt INTEGER NOT NULL,
    success INTEGER NOT NULL,
    output TEXT NOT NULL,
    error TEXT,
    duration_nanos INTEGER NOT NULL,
    started_at TEXT NOT NULL
) STRICT;

CREATE INDEX executions_of_task ON executions (task);

-- Writers come one after another, so the keys are in the order of the commits.
CREATE TABLE events (
    cursor INTEGER PRIMARY KEY AUTOINCREMENT,
    kind TEXT NOT NULL,
    harness TEXT,
    details TEXT NOT NULL,
    at TEXT NOT NULL
) STRICT;
