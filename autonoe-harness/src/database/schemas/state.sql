-- Whose state this is: one row at most.
CREATE TABLE member (
    one INTEGER PRIMARY KEY CHECK (one = 1),
    id TEXT NOT NULL,
    roadmap TEXT,
    created_at TEXT NOT NULL
) STRICT;

CREATE TABLE tasks (
    id TEXT PRIMARY KEY,
    position INTEGER NOT NULL,
    task TEXT NOT NULL,
    depends TEXT NOT NULL,
    status TEXT NOT NULL,
    output TEXT,
    error TEXT,
    updated_at TEXT NOT NULL
) STRICT;

CREATE INDEX tasks_in_order ON tasks (position, id);

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
