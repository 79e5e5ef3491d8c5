CREATE TABLE fleets (
    number INTEGER PRIMARY KEY AUTOINCREMENT,
    id TEXT NOT NULL UNIQUE,
    spec TEXT NOT NULL,
    result TEXT,
    accounts TEXT,
    epoch INTEGER NOT NULL,
    created_at TEXT NOT NULL,
    updated_at TEXT NOT NULL
) STRICT;

CREATE TABLE members (
    fleet TEXT NOT NULL REFERENCES fleets (id),
    place INTEGER NOT NULL,
    id TEXT NOT NULL,
    state TEXT NOT NULL,
    PRIMARY KEY (fleet, place),
    UNIQUE (fleet, id)
) STRICT, WITHOUT ROWID;

CREATE TABLE decisions (
    fleet TEXT NOT NULL REFERENCES fleets (id),
    number INTEGER NOT NULL,
    decision TEXT NOT NULL,
    epoch INTEGER NOT NULL,
    at TEXT NOT NULL,
    PRIMARY KEY (fleet, number)
) STRICT, WITHOUT ROWID;
