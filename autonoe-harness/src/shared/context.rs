//! Shared context: a folder of values, files and events for the members of all fleets.

use std::path::{Path, PathBuf};
use std::{fmt, io};

use jiff::Timestamp;
use rusqlite::{Connection, Row, Transaction, params};
use serde::{Deserialize, Serialize};
use serde_json::Value;

use super::artifact::{
    Artifact, ArtifactName, SharedError, copy_in, failed, is_unchanged, path_of,
};
use crate::database::{
    Database, DatabaseError, SHARED, collect, from_json, json, number, parse_column, to_stored,
    unreadable,
};
use crate::strategy::MemberId;

/// Values, files and events that members share, in a folder such as `.harness/shared`.
///
/// Access is safe between processes, and acknowledged writes survive kills and power cuts. Values
/// and events are in a SQLite file, `context.db`. Files are in `artifacts`, by the hash of their
/// content.
///
/// ```
/// use autonoe_harness::shared::{Cursor, NewMemberEvent, Scope, SharedContext};
/// use autonoe_harness::strategy::MemberId;
/// use jiff::Timestamp;
/// use serde_json::json;
///
/// # #[tokio::main(flavor = "current_thread")]
/// # async fn main() -> Result<(), Box<dyn std::error::Error>> {
/// # let dir = tempfile::tempdir()?;
/// let shared = SharedContext::open(&dir.path().join(".harness/shared")).await?;
/// let now = Timestamp::now();
/// shared.set(&Scope::Global, "port", &json!(8080), now).await?;
///
/// let report = dir.path().join("out.txt");
/// std::fs::write(&report, "All is well.")?;
/// let name = "report.txt".parse()?;
/// shared.publish_artifact(&name, &report, &MemberId::new("a"), &json!({}), now).await?;
/// shared.emit_event(&NewMemberEvent::new("complete", now)).await?;
///
/// let other = SharedContext::open(&dir.path().join(".harness/shared")).await?;
/// assert_eq!(other.get(&Scope::Global, "port").await?, Some(json!(8080)));
/// let artifact = other.consume_artifact(&name).await?;
/// assert_eq!(std::fs::read_to_string(artifact.path)?, "All is well.");
/// assert_eq!(other.events_since(Cursor::START, 10).await?.len(), 1);
/// # Ok(())
/// # }
/// ```
#[derive(Debug)]
pub struct SharedContext {
    artifacts: PathBuf,
    database: Database,
}

/// Scope of a value.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Scope {
    /// All members.
    Global,
    /// One member.
    Member(MemberId),
}

impl Scope {
    /// Returns the stored form.
    fn key(&self) -> String {
        match self {
            Self::Global => "global".to_owned(),
            Self::Member(id) => format!("member:{id}"),
        }
    }
}

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
    /// Creates an event without member, details and key.
    pub fn new(kind: impl Into<String>, at: Timestamp) -> Self {
        Self {
            kind: kind.into(),
            member: None,
            details: Value::Null,
            at,
            key: None,
        }
    }
}

/// A stored event.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub struct MemberEvent {
    /// Its position. Pass it to [`events_since`](SharedContext::events_since) to read the
    /// following events.
    pub cursor: Cursor,
    /// The event.
    pub event: NewMemberEvent,
}

impl SharedContext {
    /// Opens a folder. Creates it if it is missing.
    ///
    /// # Errors
    ///
    /// Its database is damaged, belongs to another program, has another version, or cannot be
    /// opened.
    pub async fn open(folder: &Path) -> Result<Self, SharedError> {
        let database = Database::open(&folder.join("context.db"), &SHARED).await?;
        let artifacts = folder.join("artifacts");
        Ok(Self {
            artifacts,
            database,
        })
    }

    /// Sets a value. Of two concurrent calls, the later one wins.
    ///
    /// # Errors
    ///
    /// It cannot be stored.
    pub async fn set(
        &self,
        scope: &Scope,
        key: &str,
        value: &Value,
        now: Timestamp,
    ) -> Result<(), SharedError> {
        let (scope, key, value) = (scope.key(), key.to_owned(), value.clone());
        let write = move |db: &Transaction<'_>| {
            let sql = "INSERT OR REPLACE INTO shared_values VALUES (?1, ?2, ?3, ?4)";
            db.execute(sql, params![scope, key, json(&value)?, now.to_string()])?;
            Ok(())
        };
        Ok(self.database.write(write).await?)
    }

    /// Returns a value, or `None` if it is not set. Values of a member are separate from global
    /// ones.
    ///
    /// # Errors
    ///
    /// It cannot be read.
    pub async fn get(&self, scope: &Scope, key: &str) -> Result<Option<Value>, SharedError> {
        let (scope, key) = (scope.key(), key.to_owned());
        let sql = "SELECT value FROM shared_values WHERE scope = ?1 AND key = ?2";
        let read = move |db: &Transaction<'_>| {
            collect(db, sql, [scope, key], |row| from_json(row, "value"))
        };
        Ok(self.database.read(read).await?.into_iter().next())
    }

    /// Publishes a copy of the file at `path` under a name, replacing the previous file. Publishing
    /// the same content again, from the same member and with the same metadata, changes nothing.
    ///
    /// Readers of the previous file keep it. A symlink at `path` is refused, but symlinks among the
    /// parent folders are followed: check a path that an agent chose.
    ///
    /// # Errors
    ///
    /// It is not a regular file, or cannot be copied. Then nothing was published.
    pub async fn publish_artifact(
        &self,
        name: &ArtifactName,
        path: &Path,
        member: &MemberId,
        metadata: &Value,
        now: Timestamp,
    ) -> Result<Artifact, SharedError> {
        let (folder, source, own) = (self.artifacts.clone(), path.to_owned(), name.clone());
        // The file is written before its row, so that every row has its file.
        let sha256 = on_thread(path, move || copy_in(&folder, &own, &source)).await?;
        let artifact = Artifact {
            name: name.clone(),
            version: 0,
            source_member: member.clone(),
            path: path_of(&self.artifacts, &sha256, name),
            sha256,
            metadata: metadata.clone(),
            created_at: now,
        };
        let folder = self.artifacts.clone();
        let write = move |db: &Transaction<'_>| publish(db, &folder, artifact);
        Ok(self.database.write(write).await?)
    }

    /// Returns the artifact that was last published under a name, after checking its content.
    ///
    /// # Errors
    ///
    /// [`SharedError::Unknown`], or [`SharedError::Changed`].
    pub async fn consume_artifact(&self, name: &ArtifactName) -> Result<Artifact, SharedError> {
        let (folder, own) = (self.artifacts.clone(), name.clone());
        let found = self.database.read(move |db| last_of(db, &folder, &own));
        let artifact = found
            .await?
            .ok_or_else(|| SharedError::Unknown(name.clone()))?;
        let (path, sha256) = (artifact.path.clone(), artifact.sha256.clone());
        if on_thread(&artifact.path, move || is_unchanged(&path, &sha256)).await? {
            Ok(artifact)
        } else {
            Err(SharedError::Changed {
                name: artifact.name,
                path: artifact.path,
            })
        }
    }

    /// Emits an event to all members and returns its position. An event with a known key is not
    /// stored again: the position of the first one is returned.
    ///
    /// # Errors
    ///
    /// It cannot be stored.
    pub async fn emit_event(&self, event: &NewMemberEvent) -> Result<Cursor, SharedError> {
        let event = event.clone();
        let write = move |db: &Transaction<'_>| append(db, &event);
        Ok(self.database.write(write).await?)
    }

    /// Returns whether an event with this key is stored.
    pub(crate) async fn has_event(&self, key: &str) -> Result<bool, SharedError> {
        let key = key.to_owned();
        let read = move |db: &Transaction<'_>| cursor_of(db, &key);
        Ok(self.database.read(read).await?.is_some())
    }

    /// Returns up to `limit` events after `after`, in order. Continuing from the cursor of the last
    /// event misses none and repeats none.
    ///
    /// # Errors
    ///
    /// They cannot be read.
    pub async fn events_since(
        &self,
        after: Cursor,
        limit: usize,
    ) -> Result<Vec<MemberEvent>, SharedError> {
        let read = move |db: &Transaction<'_>| {
            let sql = "SELECT * FROM events WHERE cursor > ?1 ORDER BY cursor LIMIT ?2";
            collect(db, sql, [to_stored(after.0), to_stored(limit)], event_of)
        };
        Ok(self.database.read(read).await?)
    }
}

/// Runs blocking work on a blocking thread.
async fn on_thread<T: Send + 'static>(
    path: &Path,
    work: impl FnOnce() -> Result<T, SharedError> + Send + 'static,
) -> Result<T, SharedError> {
    let done = tokio::task::spawn_blocking(work).await;
    done.unwrap_or_else(|broken| {
        let source = io::Error::other(broken);
        Err(failed(path, "cannot use it", source))
    })
}

/// Stores the row of an artifact, unless the last one of its name has the same content, source and
/// metadata.
fn publish(db: &Connection, folder: &Path, mut new: Artifact) -> Result<Artifact, DatabaseError> {
    if let Some(last) = last_of(db, folder, &new.name)?
        && last.sha256 == new.sha256
        && last.source_member == new.source_member
        && last.metadata == new.metadata
    {
        return Ok(last);
    }
    db.execute(
        "INSERT INTO artifacts (name, source_member, sha256, metadata, created_at)
         VALUES (?1, ?2, ?3, ?4, ?5)",
        params![
            new.name.as_str(),
            new.source_member.as_str(),
            new.sha256,
            json(&new.metadata)?,
            new.created_at.to_string(),
        ],
    )?;
    new.version = u64::try_from(db.last_insert_rowid()).unwrap_or_default();
    Ok(new)
}

fn last_of(
    db: &Connection,
    folder: &Path,
    name: &ArtifactName,
) -> Result<Option<Artifact>, DatabaseError> {
    let sql = "SELECT * FROM artifacts WHERE name = ?1 ORDER BY version DESC LIMIT 1";
    let found = collect(db, sql, [name.as_str()], |row| artifact_of(row, folder))?;
    Ok(found.into_iter().next())
}

fn artifact_of(row: &Row<'_>, folder: &Path) -> Result<Artifact, DatabaseError> {
    let name: ArtifactName = parse_column(row, "name")?;
    let sha256: String = row.get("sha256")?;
    // The hash becomes part of a path.
    if sha256.len() != 64 || !sha256.bytes().all(|byte| byte.is_ascii_hexdigit()) {
        return Err(unreadable("sha256", &"it is not a hash"));
    }
    Ok(Artifact {
        version: number(row, "version")?,
        source_member: MemberId::new(row.get::<_, String>("source_member")?),
        path: path_of(folder, &sha256, &name),
        sha256,
        metadata: from_json(row, "metadata")?,
        created_at: parse_column(row, "created_at")?,
        name,
    })
}

/// Stores an event after all others. For an event with a known key, returns the cursor of the first
/// one.
fn append(db: &Connection, event: &NewMemberEvent) -> Result<Cursor, DatabaseError> {
    let member = event.member.as_ref().map(MemberId::as_str);
    let details = json(&event.details)?;
    let at = event.at.to_string();
    let added = db.execute(
        "INSERT INTO events (kind, member, details, at, key) VALUES (?1, ?2, ?3, ?4, ?5)
         ON CONFLICT (key) DO NOTHING",
        params![event.kind, member, details, at, event.key],
    )?;
    let known = match &event.key {
        Some(key) if added == 0 => cursor_of(db, key)?,
        _ => u64::try_from(db.last_insert_rowid()).ok().map(Cursor),
    };
    Ok(known.unwrap_or_default())
}

/// Returns the cursor of the event with this key.
fn cursor_of(db: &Connection, key: &str) -> Result<Option<Cursor>, DatabaseError> {
    let sql = "SELECT cursor FROM events WHERE key = ?1";
    let found = collect(db, sql, [key], |row| number(row, "cursor"))?;
    Ok(found.into_iter().next().map(Cursor))
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
