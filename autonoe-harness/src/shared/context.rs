//! A folder that harnesses share.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use jiff::Timestamp;
use rusqlite::{Connection, OptionalExtension, Row, params};
use serde_json::Value;

use super::files::{copy_in, is_unchanged, place};
use super::{Artifact, ArtifactName, Scope, SharedError};
use crate::HarnessId;
use crate::database::{
    Database, SHARED, Trouble, append_event, collect, events_since, json, number, of_json, parsed,
    stored, unreadable,
};
use crate::state::{Cursor, HarnessEvent, NewHarnessEvent};

/// What harnesses share: values, files and events, in a folder such as `.harness/shared`.
///
/// It is safe between processes, and what was acknowledged survives kills and power cuts. Values and
/// events are in a SQLite file, `context.db`, and not in a `context.json`: a file that is replaced
/// with every event would be written whole each time, and its readers would have to find
/// out what is new. Files are in `artifacts`, by the hash of what is in them.
///
/// ```
/// use autonoe_harness::{Cursor, HarnessId, NewHarnessEvent, Scope, SharedContext};
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
/// shared.publish_artifact(&name, &report, &HarnessId::new("a"), &json!({}), now).await?;
/// shared.emit_event(&NewHarnessEvent::new("complete", now)).await?;
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

impl SharedContext {
    /// Opens a folder, and makes it if there is none.
    ///
    /// # Errors
    ///
    /// What is there is damaged, somebody else's or of a newer version, or cannot be opened.
    pub async fn open(folder: &Path) -> Result<Self, SharedError> {
        let database = Database::open(&folder.join("context.db"), &SHARED).await?;
        let artifacts = folder.join("artifacts");
        Ok(Self {
            artifacts,
            database,
        })
    }

    /// Looks whether the file of values and events is as it should be.
    ///
    /// # Errors
    ///
    /// It is not.
    pub async fn integrity_check(&self) -> Result<(), SharedError> {
        Ok(self.database.integrity_check().await?)
    }

    /// Sets a value, in place of the one before.
    ///
    /// Of two who set it at once, the later one counts. Who wants to change what is there uses
    /// [`replace`](Self::replace).
    ///
    /// # Errors
    ///
    /// It cannot be kept.
    pub async fn set(
        &self,
        scope: &Scope,
        key: &str,
        value: &Value,
        now: Timestamp,
    ) -> Result<(), SharedError> {
        let (scope, key, value) = (scope.key(), key.to_owned(), value.clone());
        let write = move |db: &rusqlite::Transaction<'_>| put(db, &scope, &key, &value, now);
        Ok(self.database.write(write).await?)
    }

    /// Sets a value if what is there is `before`, `None` for nothing, and tells whether it was.
    ///
    /// # Errors
    ///
    /// It cannot be kept.
    pub async fn replace(
        &self,
        scope: &Scope,
        key: &str,
        before: Option<&Value>,
        after: &Value,
        now: Timestamp,
    ) -> Result<bool, SharedError> {
        let (scope, key) = (scope.key(), key.to_owned());
        let (before, after) = (before.cloned(), after.clone());
        let write = move |db: &rusqlite::Transaction<'_>| {
            let is_as_said = get(db, &scope, &key)? == before;
            if is_as_said {
                put(db, &scope, &key, &after, now)?;
            }
            Ok(is_as_said)
        };
        Ok(self.database.write(write).await?)
    }

    /// Returns a value, or `None` if there is none. That of a harness is not everybody's.
    ///
    /// # Errors
    ///
    /// It cannot be read.
    pub async fn get(&self, scope: &Scope, key: &str) -> Result<Option<Value>, SharedError> {
        let (scope, key) = (scope.key(), key.to_owned());
        Ok(self.database.read(move |db| get(db, &scope, &key)).await?)
    }

    /// Removes a value, and tells whether there was one.
    ///
    /// # Errors
    ///
    /// It cannot be removed.
    pub async fn remove(&self, scope: &Scope, key: &str) -> Result<bool, SharedError> {
        let (scope, key) = (scope.key(), key.to_owned());
        let sql = "DELETE FROM shared_values WHERE scope = ?1 AND key = ?2";
        let write = move |db: &rusqlite::Transaction<'_>| Ok(db.execute(sql, [scope, key])? > 0);
        Ok(self.database.write(write).await?)
    }

    /// Returns all values of a scope by their keys.
    ///
    /// # Errors
    ///
    /// They cannot be read.
    pub async fn values(&self, scope: &Scope) -> Result<BTreeMap<String, Value>, SharedError> {
        let scope = scope.key();
        let sql = "SELECT * FROM shared_values WHERE scope = ?1";
        let read = move |db: &rusqlite::Transaction<'_>| {
            collect(db, sql, [scope], |row| {
                Ok((row.get("key")?, of_json(row, "value")?))
            })
        };
        Ok(self.database.read(read).await?.into_iter().collect())
    }

    /// Publishes a copy of the file at `path` under a name, in place of the one before.
    ///
    /// Who has the one before goes on reading it. A link is no file, but links among the folders
    /// that lead to it are followed: of a path that an agent chose, look first where it leads.
    ///
    /// # Errors
    ///
    /// It is no file, or cannot be copied. Then nothing was published.
    pub async fn publish_artifact(
        &self,
        name: &ArtifactName,
        path: &Path,
        harness: &HarnessId,
        metadata: &Value,
        now: Timestamp,
    ) -> Result<Artifact, SharedError> {
        let (folder, source, own_name) = (self.artifacts.clone(), path.to_owned(), name.clone());
        // The file first: who finds the row finds the file.
        let copied = on_thread(&source.clone(), move || {
            copy_in(&folder, &own_name, &source)
        })
        .await?;
        let mut artifact = Artifact {
            name: name.clone(),
            version: 0,
            source_harness: harness.clone(),
            path: place(&self.artifacts, &copied.sha256, name),
            sha256: copied.sha256,
            size: copied.size,
            metadata: metadata.clone(),
            created_at: now,
        };
        let row = artifact.clone();
        artifact.version = self.database.write(move |db| insert(db, &row)).await?;
        Ok(artifact)
    }

    /// Returns the artifact that was published last under a name, after looking whether it is what
    /// was published.
    ///
    /// # Errors
    ///
    /// [`SharedError::Unknown`], or [`SharedError::Changed`] if somebody has changed it since.
    pub async fn consume_artifact(&self, name: &ArtifactName) -> Result<Artifact, SharedError> {
        let versions = self.versions(name).await?;
        let artifact = versions.into_iter().next_back();
        let artifact = artifact.ok_or_else(|| SharedError::Unknown(name.clone()))?;
        let (path, sha256) = (artifact.path.clone(), artifact.sha256.clone());
        match on_thread(&path.clone(), move || is_unchanged(&path, &sha256)).await? {
            true => Ok(artifact),
            false => Err(SharedError::Changed {
                name: artifact.name,
                path: artifact.path,
            }),
        }
    }

    /// Returns all that was published under a name, the last one last, without looking at the files.
    ///
    /// # Errors
    ///
    /// It cannot be read.
    pub async fn versions(&self, name: &ArtifactName) -> Result<Vec<Artifact>, SharedError> {
        let sql = "SELECT * FROM artifacts WHERE name = ?1 ORDER BY version";
        let (name, folder) = (name.as_str().to_owned(), self.artifacts.clone());
        let read = move |db: &rusqlite::Transaction<'_>| {
            collect(db, sql, [name], |row| artifact_of(row, &folder))
        };
        Ok(self.database.read(read).await?)
    }

    /// Returns what can be consumed: the last artifact of each name, in the order of the names.
    ///
    /// # Errors
    ///
    /// It cannot be read.
    pub async fn artifacts(&self) -> Result<Vec<Artifact>, SharedError> {
        let sql = "SELECT * FROM artifacts
                   WHERE version IN (SELECT max(version) FROM artifacts GROUP BY name)
                   ORDER BY name";
        let folder = self.artifacts.clone();
        let read = move |db: &rusqlite::Transaction<'_>| {
            collect(db, sql, [], |row| artifact_of(row, &folder))
        };
        Ok(self.database.read(read).await?)
    }

    /// Emits an event to all harnesses, and returns where it stands. An event whose key is known is not
    /// kept again: the cursor of the first one is returned.
    ///
    /// # Errors
    ///
    /// It cannot be kept.
    pub async fn emit_event(&self, event: &NewHarnessEvent) -> Result<Cursor, SharedError> {
        let event = event.clone();
        let write = move |db: &rusqlite::Transaction<'_>| append_event(db, &event);
        Ok(self.database.write(write).await?)
    }

    /// Returns up to `limit` events behind `after`, in order.
    ///
    /// Who goes on from the cursor of the last one misses none and sees none twice, whoever told it.
    ///
    /// # Errors
    ///
    /// They cannot be read.
    pub async fn events_since(
        &self,
        after: Cursor,
        limit: usize,
    ) -> Result<Vec<HarnessEvent>, SharedError> {
        let read = move |db: &rusqlite::Transaction<'_>| events_since(db, after, limit);
        Ok(self.database.read(read).await?)
    }
}

/// Does what waits for a disk where nobody's runtime waits for it.
async fn on_thread<T: Send + 'static>(
    path: &Path,
    work: impl FnOnce() -> Result<T, SharedError> + Send + 'static,
) -> Result<T, SharedError> {
    let done = tokio::task::spawn_blocking(work).await;
    done.unwrap_or_else(|broken| {
        Err(SharedError::Failed {
            path: path.to_owned(),
            doing: "used",
            source: std::io::Error::other(broken),
        })
    })
}

fn get(db: &Connection, scope: &str, key: &str) -> Result<Option<Value>, Trouble> {
    let sql = "SELECT value FROM shared_values WHERE scope = ?1 AND key = ?2";
    let read = |row: &Row<'_>| Ok(of_json(row, "value"));
    db.query_row(sql, [scope, key], read)
        .optional()?
        .transpose()
}

fn put(
    db: &Connection,
    scope: &str,
    key: &str,
    value: &Value,
    now: Timestamp,
) -> Result<(), Trouble> {
    db.execute(
        "INSERT INTO shared_values VALUES (?1, ?2, ?3, ?4)
         ON CONFLICT (scope, key) DO UPDATE SET value = ?3, updated_at = ?4",
        params![scope, key, json(value)?, now.to_string()],
    )?;
    Ok(())
}

fn insert(db: &Connection, artifact: &Artifact) -> Result<u64, Trouble> {
    db.execute(
        "INSERT INTO artifacts (name, source_harness, sha256, size, metadata, created_at)
         VALUES (?1, ?2, ?3, ?4, ?5, ?6)",
        params![
            artifact.name.as_str(),
            artifact.source_harness.as_str(),
            artifact.sha256,
            stored(artifact.size),
            json(&artifact.metadata)?,
            artifact.created_at.to_string(),
        ],
    )?;
    Ok(u64::try_from(db.last_insert_rowid()).unwrap_or_default())
}

fn artifact_of(row: &Row<'_>, folder: &Path) -> Result<Artifact, Trouble> {
    let name: ArtifactName = parsed(row, "name")?;
    let sha256: String = row.get("sha256")?;
    // It becomes a part of a path.
    if sha256.len() != 64 || !sha256.bytes().all(|byte| byte.is_ascii_hexdigit()) {
        return Err(unreadable("sha256", &"it is none"));
    }
    Ok(Artifact {
        version: number(row, "version")?,
        source_harness: HarnessId::new(row.get::<_, String>("source_harness")?),
        path: place(folder, &sha256, &name),
        sha256,
        size: number(row, "size")?,
        metadata: of_json(row, "metadata")?,
        created_at: parsed(row, "created_at")?,
        name,
    })
}
