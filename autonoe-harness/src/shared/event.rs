//! Events shared by members, in one total order.

use std::fmt;

use jiff::Timestamp;
use rusqlite::{Connection, Row, params};
use serde::{Deserialize, Serialize};
use serde_json::Value;

use crate::database::{DatabaseError, collect, from_json, json, number, parse_column, to_stored};
use crate::strategy::MemberId;

/// A position in the sequence of events. Later events have higher positions, across all members.
#[derive(
    Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize,
)]
#[serde(transparent)]
pub struct Cursor(u64);

impl Cursor {
    /// The position before the first event.
    pub const START: Self = Self(0);
}

impl fmt::Display for Cursor {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}", self.0)
    }
}

/// An event to emit.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub struct NewMemberEvent {
    /// Its kind: `spawn`, `progress`, `complete`, `fail`, `stop`, `instruction` or another word.
    pub kind: String,
    /// The member that the event concerns.
    pub member: Option<MemberId>,
    /// Its details.
    pub details: Value,
    /// The time of the event.
    pub at: Timestamp,
    /// Identifies the event. Of events with the same key, only the first is stored, so that an
    /// event can be emitted again after a crash.
    pub key: Option<String>,
}

impl NewMemberEvent {
    /// Creates an event without details.
    pub fn new(kind: impl Into<String>, at: Timestamp) -> Self {
        Self {
            kind: kind.into(),
            member: None,
            details: Value::Null,
            at,
            key: None,
        }
    }

    /// Sets the member that the event concerns.
    #[must_use]
    pub fn member(mut self, member: MemberId) -> Self {
        self.member = Some(member);
        self
    }

    /// Sets the key by which it is deduplicated.
    #[must_use]
    pub fn key(mut self, key: impl Into<String>) -> Self {
        self.key = Some(key.into());
        self
    }

    /// Sets its details.
    #[must_use]
    pub fn details(mut self, details: Value) -> Self {
        self.details = details;
        self
    }
}

/// A stored event.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub struct MemberEvent {
    /// Its position. Pass it to [`events_since`](super::SharedContext::events_since) to read the
    /// following events.
    pub cursor: Cursor,
    /// The event.
    pub event: NewMemberEvent,
}

/// Stores an event after all others. For an event with a known key, returns the cursor of the first
/// one.
pub(super) fn append(db: &Connection, event: &NewMemberEvent) -> Result<Cursor, DatabaseError> {
    let member = event.member.as_ref().map(MemberId::as_str);
    let details = json(&event.details)?;
    let at = event.at.to_string();
    let added = db.execute(
        "INSERT INTO events (kind, member, details, at, key) VALUES (?1, ?2, ?3, ?4, ?5)
         ON CONFLICT (key) DO NOTHING",
        params![event.kind, member, details, at, event.key],
    )?;
    if added > 0 {
        let number = u64::try_from(db.last_insert_rowid());
        return Ok(Cursor(number.unwrap_or_default()));
    }
    let sql = "SELECT cursor FROM events WHERE key = ?1";
    let found = collect(db, sql, [&event.key], |row| {
        Ok(Cursor(number(row, "cursor")?))
    })?;
    Ok(found.first().copied().unwrap_or_default())
}

/// Returns whether an event has this key.
pub(super) fn exists(db: &Connection, key: &str) -> Result<bool, DatabaseError> {
    let sql = "SELECT cursor FROM events WHERE key = ?1";
    Ok(!collect(db, sql, [key], |row| number::<u64>(row, "cursor"))?.is_empty())
}

/// Returns up to `limit` events after `after`.
pub(super) fn since(
    db: &Connection,
    after: Cursor,
    limit: usize,
) -> Result<Vec<MemberEvent>, DatabaseError> {
    let sql = "SELECT * FROM events WHERE cursor > ?1 ORDER BY cursor LIMIT ?2";
    collect(db, sql, [to_stored(after.0), to_stored(limit)], event_of)
}

fn event_of(row: &Row<'_>) -> Result<MemberEvent, DatabaseError> {
    let event = NewMemberEvent {
        kind: row.get("kind")?,
        member: row.get::<_, Option<String>>("member")?.map(MemberId::new),
        details: from_json(row, "details")?,
        at: parse_column(row, "at")?,
        key: row.get("key")?,
    };
    Ok(MemberEvent {
        cursor: Cursor(number(row, "cursor")?),
        event,
    })
}
