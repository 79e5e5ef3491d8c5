CREATE TABLE progress (
    number INTEGER PRIMARY KEY AUTOINCREMENT,
    task TEXT NOT NULL REFERENCES tasks (id),
    iteration INTEGER NOT NULL,
    score REAL NOT NULL,
    signal TEXT NOT NULL,
    at TEXT NOT NULL
) STRICT;

CREATE INDEX progress_of_task ON progress (task);
