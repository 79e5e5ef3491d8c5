//! Events in their order: a table that several kinds of files have.

use rusqlite::{Connection, Row, params};

use super::columns::{collect, json, number, of_json, parsed, stored};
use super::trouble::Trouble;
use crate::HarnessId;
use crate::state::{Cursor, HarnessEvent, NewHarnessEvent};

/// Adds an event behind all others, inside of a transaction that writes. An event with a known key is
/// not added; the cursor of the first one is returned.
pub(crate) fn append_event(db: &Connection, event: &NewHarnessEvent) -> Result<Cursor, Trouble> {
    if let Some(key) = &event.key {
        let found = collect(
            db,
            "SELECT cursor FROM events WHERE key = ?1",
            [key],
            |row| Ok(Cursor(number(row, "cursor")?)),
        )?;
        if let Some(cursor) = found.first() {
            return Ok(*cursor);
        }
    }
    let harness = event.harness.as_ref().map(HarnessId::as_str);
    let details = json(&event.details)?;
    db.execute(
        "INSERT INTO events (kind, harness, details, at, key) VALUES (?1, ?2, ?3, ?4, ?5)",
        params![
            event.kind,
            harness,
            details,
            event.at.to_string(),
            event.key
        ],
    )?;
    let number = u64::try_from(db.last_insert_rowid());
    Ok(Cursor(number.unwrap_or_default()))
}

/// Returns up to `limit` events behind `after`.
pub(crate) fn events_since(
    db: &Connection,
    after: Cursor,
    limit: usize,
) -> Result<Vec<HarnessEvent>, Trouble> {
    let sql = "SELECT * FROM events WHERE cursor > ?1 ORDER BY cursor LIMIT ?2";
    collect(db, sql, [stored(after.0), stored(limit)], event_of)
}

fn event_of(row: &Row<'_>) -> Result<HarnessEvent, Trouble> {
    let event = NewHarnessEvent {
        kind: row.get("kind")?,
        harness: row.get::<_, Option<String>>("harness")?.map(HarnessId::new),
        details: of_json(row, "details")?,
        at: parsed(row, "at")?,
        key: row.get("key")?,
    };
    Ok(HarnessEvent::new(Cursor(number(row, "cursor")?), event))
}
