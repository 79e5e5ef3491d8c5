//! Coordinator state in SQLite.

use std::path::Path;

use jiff::Timestamp;
use rusqlite::{Connection, OptionalExtension, Row, params};
use serde_json::Value;

use super::StateError;
use super::fleet_record::{
    DecisionRecord, FleetPlan, FleetRecord, LeaderToken, check_end, check_transition, ended_fleet,
};
use crate::budget::Account;
use crate::coordinate::FleetReport;
use crate::database::{
    Database, DatabaseError, META, collect, from_json, from_json_optional, json, number,
    parse_column, to_stored,
};
use crate::strategy::{Member, MemberId, MemberState};

/// State of a project's coordinators in a SQLite file, for several processes at once: all fleets
/// with their members, decisions and accounts.
///
/// One coordinator leads a fleet at a time: [`acquire_leadership`](Self::acquire_leadership) takes it over from
/// the previous leader, whose writes are refused from then on. A member or a fleet that has ended
/// never changes. It has the same guarantees as [`SqliteState`](super::SqliteState).
///
/// ```
/// use autonoe_harness::state::{FleetPlan, SqliteMeta};
/// use autonoe_harness::strategy::{MemberId, MemberState};
/// use jiff::Timestamp;
/// use serde_json::json;
///
/// # #[tokio::main(flavor = "current_thread")]
/// # async fn main() -> Result<(), Box<dyn std::error::Error>> {
/// # let dir = tempfile::tempdir()?;
/// let meta = SqliteMeta::open(&dir.path().join(".harness/meta_state.db")).await?;
/// let (a, now) = (MemberId::new("a"), Timestamp::UNIX_EPOCH);
/// let plan = FleetPlan::new("login", json!({}), [a.clone()]);
/// meta.create_fleet(&plan, now).await?;
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

    /// Checks the whole file.
    ///
    /// # Errors
    ///
    /// [`StateError::Corrupt`].
    pub async fn integrity_check(&self) -> Result<(), StateError> {
        self.database.integrity_check().await
    }

    /// Changes a fleet on behalf of its leader.
    async fn change<T: Send + 'static>(
        &self,
        token: &LeaderToken,
        now: Timestamp,
        work: impl FnOnce(&Connection, &LeaderToken) -> Result<T, DatabaseError> + Send + 'static,
    ) -> Result<T, StateError> {
        let token = token.clone();
        self.database
            .write(move |db| {
                let sql = "UPDATE fleets SET updated_at = ?3 WHERE id = ?1 AND epoch = ?2";
                let row = params![token.fleet, to_stored(token.epoch), now.to_string()];
                match db.execute(sql, row)? {
                    0 => Err(token.fenced().into()),
                    _ => work(db, &token),
                }
            })
            .await
    }

    /// Records a fleet, all of whose members wait. Recording the same plan again only restores lost
    /// rows of members.
    ///
    /// # Errors
    ///
    /// [`StateError::Conflict`] if another fleet has that name, [`StateError::Invalid`] if two
    /// members share a name.
    pub async fn create_fleet(&self, plan: &FleetPlan, now: Timestamp) -> Result<(), StateError> {
        plan.check()?;
        let plan = plan.clone();
        self.database.write(move |db| create(db, &plan, now)).await
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
                let read = |row: &Row<'_>| Ok(number(row, "epoch"));
                let found = db.query_row(sql, params![fleet, now.to_string()], read);
                match found.optional()? {
                    Some(epoch) => Ok(LeaderToken::new(fleet, epoch?)),
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
        token: &LeaderToken,
        member: &MemberId,
        state: &MemberState,
        now: Timestamp,
    ) -> Result<(), StateError> {
        let (member, state) = (member.clone(), state.clone());
        let work = move |db: &Connection, token: &LeaderToken| set(db, token, &member, &state);
        self.change(token, now, work).await
    }

    /// Records the end of a fleet. Recording the same result again changes nothing.
    ///
    /// # Errors
    ///
    /// [`StateError::Fenced`]; [`StateError::Conflict`] if it has ended with another result.
    pub async fn finish_fleet(
        &self,
        token: &LeaderToken,
        result: &FleetReport,
        now: Timestamp,
    ) -> Result<(), StateError> {
        let result = result.clone();
        let work = move |db: &Connection, token: &LeaderToken| finish(db, token, &result);
        self.change(token, now, work).await
    }

    /// Records a decision, and returns its number.
    ///
    /// # Errors
    ///
    /// [`StateError::Fenced`].
    pub async fn append_decision(
        &self,
        token: &LeaderToken,
        decision: &Value,
        now: Timestamp,
    ) -> Result<u64, StateError> {
        let decision = decision.clone();
        let work = move |db: &Connection, token: &LeaderToken| {
            let sql = "INSERT INTO decisions
                       SELECT ?1, coalesce(max(number), 0) + 1, ?2, ?3, ?4
                       FROM decisions WHERE fleet = ?1 RETURNING number";
            let epoch = to_stored(token.epoch);
            let row = params![token.fleet, json(&decision)?, epoch, now.to_string()];
            db.query_row(sql, row, |row| Ok(number(row, "number")))?
        };
        self.change(token, now, work).await
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
        token: &LeaderToken,
        accounts: &Account,
        now: Timestamp,
    ) -> Result<(), StateError> {
        let accounts = accounts.clone();
        let work = move |db: &Connection, token: &LeaderToken| {
            let sql = "UPDATE fleets SET accounts = ?2 WHERE id = ?1";
            db.execute(sql, params![token.fleet, json(&accounts)?])?;
            Ok(())
        };
        self.change(token, now, work).await
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

fn create(db: &Connection, plan: &FleetPlan, now: Timestamp) -> Result<(), DatabaseError> {
    let spec = json(&plan.spec)?;
    db.execute(
        "INSERT INTO fleets (id, spec, epoch, created_at, updated_at) VALUES (?1, ?2, 0, ?3, ?3)
         ON CONFLICT (id) DO NOTHING",
        params![plan.id, spec, now.to_string()],
    )?;
    let sql = "SELECT spec FROM fleets WHERE id = ?1";
    let stored: String = db.query_row(sql, [&plan.id], |row| row.get(0))?;
    if !is_same_json(&stored, &spec) {
        return Err(StateError::Conflict(format!("fleet {}", plan.id)).into());
    }
    // Adds missing rows of members: all of a new fleet, and lost ones of a known fleet.
    let result = result_of(db, &plan.id)?.map(|(_, result)| result);
    for (place, member) in (0_i64..).zip(&plan.members) {
        let results = result.iter().flat_map(|result| &result.results);
        let ended = (0..).zip(results).find(|(_, ended)| ended.id == *member);
        let state = match ended {
            Some((place, result)) => MemberState::Ended {
                place,
                result: Box::new(result.clone()),
            },
            None => MemberState::Waiting,
        };
        let row = params![plan.id, place, member.as_str(), json(&state)?];
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
    token: &LeaderToken,
    member: &MemberId,
    state: &MemberState,
) -> Result<(), DatabaseError> {
    let sql = "SELECT state FROM members WHERE fleet = ?1 AND id = ?2";
    let key = [token.fleet.as_str(), member.as_str()];
    let found = collect(db, sql, key, |row| {
        Ok((
            row.get::<_, String>("state")?,
            from_json::<MemberState>(row, "state")?,
        ))
    })?;
    let Some((before, before_state)) = found.into_iter().next() else {
        return Err(StateError::Unknown(format!("member {member}")).into());
    };
    let after = json(state)?;
    if before == after || !check_transition(member, &before_state, state)? {
        return Ok(());
    }
    if result_of(db, &token.fleet)?.is_some() {
        return Err(ended_fleet(&token.fleet).into());
    }
    let sql = "UPDATE members SET state = ?3 WHERE fleet = ?1 AND id = ?2";
    db.execute(sql, params![token.fleet, member.as_str(), after])?;
    Ok(())
}

fn finish(db: &Connection, token: &LeaderToken, result: &FleetReport) -> Result<(), DatabaseError> {
    let after = json(result)?;
    if let Some((before, before_result)) = result_of(db, &token.fleet)? {
        return if before == after {
            Ok(())
        } else {
            Ok(check_end(&token.fleet, Some(&before_result), result).map(|_| ())?)
        };
    }
    let sql = "UPDATE fleets SET result = ?2 WHERE id = ?1";
    db.execute(sql, params![token.fleet, after])?;
    Ok(())
}

/// Returns the result of a fleet, as stored and parsed.
fn result_of(db: &Connection, fleet: &str) -> Result<Option<(String, FleetReport)>, DatabaseError> {
    let sql = "SELECT result FROM fleets WHERE id = ?1 AND result IS NOT NULL";
    let found = collect(db, sql, [fleet], |row| {
        Ok((row.get("result")?, from_json(row, "result")?))
    })?;
    Ok(found.into_iter().next())
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
    let ids = members.iter().map(|member| member.id.clone());
    Ok(FleetRecord {
        plan: FleetPlan::new(id, from_json(row, "spec")?, ids),
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
