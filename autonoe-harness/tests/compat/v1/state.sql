PRAGMA application_id = 1098149459;
PRAGMA user_version = 4;
BEGIN TRANSACTION;
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
INSERT INTO "executions" VALUES(1,'parser',1,1,'Sums and products are read.',NULL,4059136,'2026-11-18T20:08:59.085646735Z');
CREATE TABLE member (
    one INTEGER PRIMARY KEY CHECK (one = 1),
    id TEXT NOT NULL,
    roadmap TEXT,
    created_at TEXT NOT NULL
) STRICT;
INSERT INTO "member" VALUES(1,'roadmap.parser','ROADMAP.md','2026-11-18T20:08:58.839466516Z');
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
INSERT INTO "tasks" VALUES('parser',0,'{"id":"parser","description":"Read sums and products.","goal":"Read sums and products.","context":"This task is part of a larger objective: A calculator for the terminal.\n\nConstraints:\n- no dependencies\n\nSuccess criteria of the whole objective:\n- it adds and multiplies","successCriteria":{"type":"command","command":["test","-f","src/parser.sh"]},"timeoutSeconds":1200}','[]','completed','Sums and products are read.',NULL,'2026-11-18T20:08:59.239338616Z');
CREATE INDEX tasks_in_order ON tasks (position, id);
CREATE INDEX executions_of_task ON executions (task);
DELETE FROM "sqlite_sequence";
INSERT INTO "sqlite_sequence" VALUES('executions',1);
COMMIT;
