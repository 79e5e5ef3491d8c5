CREATE TABLE shared_values (
    scope TEXT NOT NULL,
    key TEXT NOT NULL,
    value TEXT NOT NULL,
    updated_at TEXT NOT NULL,
    PRIMARY KEY (scope, key)
) STRICT, WITHOUT ROWID;

-- Every publication is a row; the last of a name is what is consumed.
CREATE TABLE artifacts (
    version INTEGER PRIMARY KEY AUTOINCREMENT,
    name TEXT NOT NULL,
    source_member TEXT NOT NULL,
    sha256 TEXT NOT NULL,
    metadata TEXT NOT NULL,
    created_at TEXT NOT NULL
) STRICT;

CREATE INDEX artifacts_by_name ON artifacts (name, version);

-- Writers come one after another, so the keys are in the order of the commits. An event with a key is
-- kept once.
CREATE TABLE events (
    cursor INTEGER PRIMARY KEY AUTOINCREMENT,
    kind TEXT NOT NULL,
    member TEXT,
    details TEXT NOT NULL,
    at TEXT NOT NULL,
    key TEXT UNIQUE
) STRICT;
