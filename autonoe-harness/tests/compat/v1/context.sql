PRAGMA application_id = 1098149443;
PRAGMA user_version = 4;
BEGIN TRANSACTION;
CREATE TABLE artifacts (
    version INTEGER PRIMARY KEY AUTOINCREMENT,
    name TEXT NOT NULL,
    source_member TEXT NOT NULL,
    sha256 TEXT NOT NULL,
    metadata TEXT NOT NULL,
    created_at TEXT NOT NULL
) STRICT;
INSERT INTO "artifacts" VALUES(1,'roadmap.manual.md','roadmap.manual','f9793f7e068df6ff88eca27ffcc94157f882ed225a7f6071d6b7aea99fb7ed2d','{"success":true}','2026-11-18T20:08:59.530750233Z');
INSERT INTO "artifacts" VALUES(2,'roadmap.parser.md','roadmap.parser','e2116f2ed33b32c7bc472fe45d8ebcef4c541d56c3b1b2145d537204e27d5b24','{"success":true}','2026-11-18T20:08:59.897551257Z');
INSERT INTO "artifacts" VALUES(3,'roadmap.shell.md','roadmap.shell','7df5ad4823bb358c901b970a1106120799152601d60809ce212441c8317942a1','{"success":true}','2026-11-18T20:09:00.843896144Z');
CREATE TABLE events (
    cursor INTEGER PRIMARY KEY AUTOINCREMENT,
    kind TEXT NOT NULL,
    member TEXT,
    details TEXT NOT NULL,
    at TEXT NOT NULL,
    key TEXT UNIQUE
) STRICT;
INSERT INTO "events" VALUES(1,'spawn','roadmap.manual','{"run":"roadmap.manual"}','2026-11-18T20:08:58.812153278Z','roadmap.manual 2026-11-18T20:08:58.812153278Z spawn');
INSERT INTO "events" VALUES(2,'spawn','roadmap.parser','{"run":"roadmap.parser"}','2026-11-18T20:08:58.869762987Z','roadmap.parser 2026-11-18T20:08:58.869762987Z spawn');
INSERT INTO "events" VALUES(3,'progress','roadmap.manual','{"task":"manual","iteration":1,"branch":null,"score":0.303,"passed":true}','2026-11-18T20:08:59.035406965Z','roadmap.manual 2026-11-18T20:08:58.812153278Z progress manual - 1');
INSERT INTO "events" VALUES(4,'progress','roadmap.parser','{"task":"parser","iteration":1,"branch":null,"score":0.303,"passed":true}','2026-11-18T20:08:59.229355183Z','roadmap.parser 2026-11-18T20:08:58.869762987Z progress parser - 1');
INSERT INTO "events" VALUES(7,'complete','roadmap.manual','{"progress":1.0,"error":null,"artifact":"roadmap.manual.md"}','2026-11-18T20:08:59.530750233Z','roadmap.manual 2026-11-18T20:08:58.812153278Z complete');
INSERT INTO "events" VALUES(10,'complete','roadmap.parser','{"progress":1.0,"error":null,"artifact":"roadmap.parser.md"}','2026-11-18T20:08:59.897551257Z','roadmap.parser 2026-11-18T20:08:58.869762987Z complete');
INSERT INTO "events" VALUES(11,'spawn','roadmap.shell','{"run":"roadmap.shell"}','2026-11-18T20:09:00.180351883Z','roadmap.shell 2026-11-18T20:09:00.180351883Z spawn');
INSERT INTO "events" VALUES(12,'progress','roadmap.shell','{"task":"shell","iteration":1,"branch":null,"score":0.303,"passed":true}','2026-11-18T20:09:00.407999701Z','roadmap.shell 2026-11-18T20:09:00.180351883Z progress shell - 1');
INSERT INTO "events" VALUES(15,'complete','roadmap.shell','{"progress":1.0,"error":null,"artifact":"roadmap.shell.md"}','2026-11-18T20:09:00.843896144Z','roadmap.shell 2026-11-18T20:09:00.180351883Z complete');
CREATE TABLE shared_values (
    scope TEXT NOT NULL,
    key TEXT NOT NULL,
    value TEXT NOT NULL,
    updated_at TEXT NOT NULL,
    PRIMARY KEY (scope, key)
) STRICT, WITHOUT ROWID;
INSERT INTO "shared_values" VALUES('global','port','8080','2026-11-18T20:09:00Z');
INSERT INTO "shared_values" VALUES('member:roadmap.parser','state','{"step":2}','2026-11-18T20:09:00Z');
CREATE INDEX artifacts_by_name ON artifacts (name, version);
DELETE FROM "sqlite_sequence";
INSERT INTO "sqlite_sequence" VALUES('events',15);
INSERT INTO "sqlite_sequence" VALUES('artifacts',3);
COMMIT;
