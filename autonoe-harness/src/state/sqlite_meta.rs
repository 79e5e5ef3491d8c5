//! Coordinator state in SQLite.

use std::collections::BTreeSet;
use std::path::Path;

use jiff::Timestamp;
use rusqlite::{Connection, Row, params};
use serde::{Deserialize, Serialize};
use serde_json::Value;

use super::StateError;
use crate::budget::Account;
use crate::coordinate::FleetReport;
use crate::database::{
    Database, DatabaseError, META, collect, from_json, from_json_optional, json, number,
    parse_column, to_stored,
};
use crate::strategy::{Member, MemberId, MemberState};

/// A recorded fleet.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
#[non_exhaustive]
pub struct FleetRecord {
    /// The name of the fleet.
    pub id: String,
    /// The order of the fleet, in the coordinator's own format.
    pub spec: Value,
    /// The members with their states, in order.
    pub members: Vec<Member>,
    /// The report; `None` while the fleet has not ended.
    pub result: Option<FleetReport>,
    /// The epoch of its last leader; 0 before the first.
    pub epoch: u64,
    /// The creation time.
    pub created_at: Timestamp,
    /// The time of the last change.
    pub updated_at: Timestamp,
}

impl FleetRecord {
    /// Returns the IDs of the members, in order.
    pub fn member_ids(&self) -> impl Iterator<Item = &MemberId> + Clone {
        self.members.iter().map(|member| &member.id)
    }
}

/// Leadership of a fleet, until another process takes it over.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct LeaderToken {
    /// The fleet.
    pub fleet: String,
    /// The epoch, a fencing token: higher than all epochs before.
    pub epoch: u64,
}

/// A recorded decision of a coordinator.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
#[non_exhaustive]
pub struct DecisionRecord {
    /// The number of the decision in the fleet, starting at 1.
    pub number: u64,
    /// The decision, in the coordinator's own format.
    pub decision: Value,
    /// The epoch of the leader that decided.
    pub epoch: u64,
    /// The time of the decision.
    pub at: Timestamp,
}

/// State of a project's coordinators in a SQLite file, for several processes at once: all fleets
/// with their members, decisions and accounts.
///
/// One coordinator leads a fleet at a time: [`acquire_leadership`](Self::acquire_leadership) takes it over from
/// the previous leader, whose writes are refused from then on. A member or a fleet that has ended
/// never changes. It has the same guarantees as [`SqliteState`](super::SqliteState).
///
/// ```
/// use autonoe_harness::state::SqliteMeta;
/// use autonoe_harness::strategy::{MemberId, MemberState};
/// use jiff::Timestamp;
/// use serde_json::json;
///
/// # #[tokio::main(flavor = "current_thread")]
/// # async fn main() -> Result<(), Box<dyn std::error::Error>> {
/// # let dir = tempfile::tempdir()?;
/// let meta = SqliteMeta::open(&dir.path().join(".harness/meta_state.db")).await?;
/// let (a, now) = (MemberId::new("a"), Timestamp::UNIX_EPOCH);
/// meta.create_fleet("login", &json!({}), &[a.clone()], now).await?;
///
/// let lead = meta.acquire_leadership("login", now).await?;
/// meta.set_member(&lead, &a, &MemberState::Running, now).await?;
///
/// let other = meta.acquire_leadership("login", now).await?;
/// assert!(meta.set_member(&lead, &a, &MemberState::Stopping, now).await.is_err());
/// assert_eq!(other.epoch, lead.epoch + 1);
/// # Ok(())
/// # }
/// ```
#[derive(Debug)]
pub struct SqliteMeta {
    database: Database,
}

impl SqliteMeta {
    /// Opens the file at `path`. Creates it and its folder if they are missing.
    ///
    /// # Errors
    ///
    /// The file is damaged, belongs to another program, has a newer version, or cannot be opened.
    pub async fn open(path: &Path) -> Result<Self, StateError> {
        let database = Database::open(path, &META).await?;
        Ok(Self { database })
    }

    /// Changes a fleet on behalf of its leader.
    async fn change<T: Send + 'static>(
        &self,
        leader: &LeaderToken,
        now: Timestamp,
        work: impl FnOnce(&Connection, &str) -> Result<T, DatabaseError> + Send + 'static,
    ) -> Result<T, StateError> {
        let LeaderToken { fleet, epoch } = leader.clone();
        self.database
            .write(move |db| {
                let sql = "UPDATE fleets SET updated_at = ?3 WHERE id = ?1 AND epoch = ?2";
                match db.execute(sql, params![fleet, to_stored(epoch), now.to_string()])? {
                    0 => Err(StateError::Fenced { fleet, epoch }.into()),
                    _ => work(db, &fleet),
                }
            })
            .await
    }

    /// Records a fleet, all of whose members wait. Recording the same fleet again only restores lost
    /// rows of members.
    ///
    /// # Errors
    ///
    /// [`StateError::Conflict`] if another fleet has that name; [`StateError::Invalid`] if two
    /// members have the same name.
    pub async fn create_fleet(
        &self,
        id: &str,
        spec: &Value,
        members: &[MemberId],
        now: Timestamp,
    ) -> Result<(), StateError> {
        let (id, spec, members) = (id.to_owned(), spec.clone(), members.to_vec());
        self.database
            .write(move |db| create(db, &id, &spec, &members, now))
            .await
    }

    /// Returns a fleet, or `None` if it does not exist.
    ///
    /// # Errors
    ///
    /// The file cannot be read.
    pub async fn fleet(&self, id: &str) -> Result<Option<FleetRecord>, StateError> {
        let id = id.to_owned();
        self.database
            .read(move |db| {
                let sql = "SELECT * FROM fleets WHERE id = ?1";
                let found = collect(db, sql, [id], |row| fleet_of(db, row))?;
                Ok(found.into_iter().next())
            })
            .await
    }

    /// Returns the names of all fleets, in creation order. Works even if the record of a fleet is
    /// damaged.
    ///
    /// # Errors
    ///
    /// The file cannot be read.
    pub async fn fleet_names(&self) -> Result<Vec<String>, StateError> {
        let sql = "SELECT id FROM fleets ORDER BY number";
        self.database
            .read(move |db| collect(db, sql, [], |row| Ok(row.get("id")?)))
            .await
    }

    /// Returns all fleets, in creation order.
    ///
    /// # Errors
    ///
    /// The file cannot be read.
    pub async fn fleets(&self) -> Result<Vec<FleetRecord>, StateError> {
        let sql = "SELECT * FROM fleets ORDER BY number";
        self.database
            .read(move |db| collect(db, sql, [], |row| fleet_of(db, row)))
            .await
    }

    /// Takes over the leadership of a fleet.
    ///
    /// # Errors
    ///
    /// [`StateError::Unknown`].
    pub async fn acquire_leadership(
        &self,
        fleet: &str,
        now: Timestamp,
    ) -> Result<LeaderToken, StateError> {
        let fleet = fleet.to_owned();
        self.database
            .write(move |db| {
                let sql = "UPDATE fleets SET epoch = epoch + 1, updated_at = ?2 WHERE id = ?1
                           RETURNING epoch";
                let key = params![fleet, now.to_string()];
                let epoch = collect(db, sql, key, |row| number(row, "epoch"))?.pop();
                match epoch {
                    Some(epoch) => Ok(LeaderToken { fleet, epoch }),
                    None => Err(StateError::Unknown(format!("fleet {fleet}")).into()),
                }
            })
            .await
    }

    /// Records the state of a member. Recording the same state again changes nothing.
    ///
    /// # Errors
    ///
    /// [`StateError::Fenced`]; [`StateError::Unknown`]; [`StateError::Conflict`] if it or its fleet
    /// has ended.
    pub async fn set_member(
        &self,
        leader: &LeaderToken,
        member: &MemberId,
        state: &MemberState,
        now: Timestamp,
    ) -> Result<(), StateError> {
        let (member, state) = (member.clone(), state.clone());
        let work = move |db: &Connection, fleet: &str| set(db, fleet, &member, &state);
        self.change(leader, now, work).await
    }

    /// Records the end of a fleet. Recording the same result again changes nothing.
    ///
    /// # Errors
    ///
    /// [`StateError::Fenced`]; [`StateError::Conflict`] if it has ended with another result.
    pub async fn finish_fleet(
        &self,
        leader: &LeaderToken,
        result: &FleetReport,
        now: Timestamp,
    ) -> Result<(), StateError> {
        let result = result.clone();
        let work = move |db: &Connection, fleet: &str| finish(db, fleet, &result);
        self.change(leader, now, work).await
    }

    /// Records a decision, and returns its number.
    ///
    /// # Errors
    ///
    /// [`StateError::Fenced`].
    pub async fn append_decision(
        &self,
        leader: &LeaderToken,
        decision: &Value,
        now: Timestamp,
    ) -> Result<u64, StateError> {
        let decision = decision.clone();
        let work = move |db: &Connection, fleet: &str| {
            let sql = "INSERT INTO decisions
                       SELECT ?1, (SELECT count(*) + 1 FROM decisions WHERE fleet = ?1), ?2,
                              epoch, ?3
                       FROM fleets WHERE id = ?1 RETURNING number";
            let row = params![fleet, json(&decision)?, now.to_string()];
            db.query_row(sql, row, |row| Ok(number(row, "number")))?
        };
        self.change(leader, now, work).await
    }

    /// Returns the decisions of a fleet, in order.
    ///
    /// # Errors
    ///
    /// The file cannot be read.
    pub async fn decisions(&self, fleet: &str) -> Result<Vec<DecisionRecord>, StateError> {
        let sql = "SELECT * FROM decisions WHERE fleet = ?1 ORDER BY number";
        let fleet = fleet.to_owned();
        self.database
            .read(move |db| collect(db, sql, [fleet], decision_of))
            .await
    }

    /// Replaces the accounts of a fleet.
    ///
    /// # Errors
    ///
    /// [`StateError::Fenced`].
    pub async fn save_accounts(
        &self,
        leader: &LeaderToken,
        accounts: &Account,
        now: Timestamp,
    ) -> Result<(), StateError> {
        let accounts = accounts.clone();
        let work = move |db: &Connection, fleet: &str| {
            let sql = "UPDATE fleets SET accounts = ?2 WHERE id = ?1";
            db.execute(sql, params![fleet, json(&accounts)?])?;
            Ok(())
        };
        self.change(leader, now, work).await
    }

    /// Returns the accounts of a fleet, or `None` if none were saved.
    ///
    /// # Errors
    ///
    /// The file cannot be read.
    pub async fn accounts(&self, fleet: &str) -> Result<Option<Account>, StateError> {
        let sql = "SELECT accounts FROM fleets WHERE id = ?1";
        let fleet = fleet.to_owned();
        self.database
            .read(move |db| {
                let found = collect(db, sql, [fleet], |row| from_json_optional(row, "accounts"))?;
                Ok(found.into_iter().next().flatten())
            })
            .await
    }
}

fn create(
    db: &Connection,
    fleet: &str,
    spec: &Value,
    members: &[MemberId],
    now: Timestamp,
) -> Result<(), DatabaseError> {
    let mut names = BTreeSet::new();
    if let Some(twice) = members.iter().find(|member| !names.insert(*member)) {
        return Err(StateError::Invalid(format!("two members have the name {twice}")).into());
    }
    let spec = json(spec)?;
    db.execute(
        "INSERT INTO fleets (id, spec, epoch, created_at, updated_at) VALUES (?1, ?2, 0, ?3, ?3)
         ON CONFLICT (id) DO NOTHING",
        params![fleet, spec, now.to_string()],
    )?;
    let sql = "SELECT spec FROM fleets WHERE id = ?1";
    let stored: String = db.query_row(sql, [fleet], |row| row.get(0))?;
    if !is_same_json(&stored, &spec) {
        return Err(StateError::Conflict(format!("fleet {fleet}")).into());
    }
    // Adds missing rows of members: all of a new fleet, and lost ones of a known fleet.
    let result = result_of(db, fleet)?;
    let result: Option<FleetReport> = result.and_then(|json| serde_json::from_str(&json).ok());
    for (place, member) in (0_i64..).zip(members) {
        let results = result.iter().flat_map(|result| &result.results);
        let ended = (0..).zip(results).find(|(_, ended)| ended.id == *member);
        let state = ended.map_or(MemberState::Waiting, |(place, result)| MemberState::Ended {
            place,
            result: Box::new(result.clone()),
        });
        let row = params![fleet, place, member.as_str(), json(&state)?];
        db.execute("INSERT OR IGNORE INTO members VALUES (?1, ?2, ?3, ?4)", row)?;
    }
    Ok(())
}

/// Returns whether two texts are the same JSON.
///
/// The texts are compared first: a parsed number may differ in its last digit.
fn is_same_json(one: &str, other: &str) -> bool {
    let read = |text| serde_json::from_str::<Value>(text).ok();
    one == other || read(one).is_some_and(|one| Some(one) == read(other))
}

fn set(
    db: &Connection,
    fleet: &str,
    member: &MemberId,
    state: &MemberState,
) -> Result<(), DatabaseError> {
    let sql = "SELECT state FROM members WHERE fleet = ?1 AND id = ?2";
    let key = [fleet, member.as_str()];
    let before = collect(db, sql, key, |row| {
        let json: String = row.get("state")?;
        Ok((json, from_json(row, "state")?))
    })?;
    let after = json(state)?;
    match before.into_iter().next() {
        None => return Err(StateError::Unknown(format!("member {member}")).into()),
        Some((before, _)) if after == before => return Ok(()),
        Some((_, MemberState::Ended { .. })) => {
            return Err(StateError::Conflict(format!("end of the member {member}")).into());
        }
        Some(_) if result_of(db, fleet)?.is_some() => {
            return Err(ended_fleet(fleet));
        }
        Some(_) => {}
    }
    let sql = "UPDATE members SET state = ?3 WHERE fleet = ?1 AND id = ?2";
    db.execute(sql, params![fleet, member.as_str(), after])?;
    Ok(())
}

fn finish(db: &Connection, fleet: &str, result: &FleetReport) -> Result<(), DatabaseError> {
    let after = json(result)?;
    match result_of(db, fleet)? {
        Some(before) if before == after => Ok(()),
        Some(_) => Err(ended_fleet(fleet)),
        None => {
            let sql = "UPDATE fleets SET result = ?2 WHERE id = ?1";
            db.execute(sql, params![fleet, after])?;
            Ok(())
        }
    }
}

fn ended_fleet(fleet: &str) -> DatabaseError {
    StateError::Conflict(format!("end of the fleet {fleet}")).into()
}

/// Returns the result of a fleet, as JSON.
fn result_of(db: &Connection, fleet: &str) -> Result<Option<String>, DatabaseError> {
    let sql = "SELECT result FROM fleets WHERE id = ?1";
    let found = collect(db, sql, [fleet], |row| Ok(row.get("result")?))?;
    Ok(found.into_iter().next().flatten())
}

fn fleet_of(db: &Connection, row: &Row<'_>) -> Result<FleetRecord, DatabaseError> {
    let id: String = row.get("id")?;
    let sql = "SELECT * FROM members WHERE fleet = ?1 ORDER BY place";
    let members = collect(db, sql, [&id], |row| {
        Ok(Member {
            id: MemberId::new(row.get::<_, String>("id")?),
            state: from_json(row, "state")?,
        })
    })?;
    Ok(FleetRecord {
        id,
        spec: from_json(row, "spec")?,
        members,
        result: from_json_optional(row, "result")?,
        epoch: number(row, "epoch")?,
        created_at: parse_column(row, "created_at")?,
        updated_at: parse_column(row, "updated_at")?,
    })
}

fn decision_of(row: &Row<'_>) -> Result<DecisionRecord, DatabaseError> {
    Ok(DecisionRecord {
        number: number(row, "number")?,
        decision: from_json(row, "decision")?,
        epoch: number(row, "epoch")?,
        at: parse_column(row, "at")?,
    })
}
