//! The state of a coordinator in SQLite.

use std::path::Path;

use async_trait::async_trait;
use jiff::Timestamp;
use rusqlite::{Connection, OptionalExtension, Row, params};
use serde_json::Value;

use crate::database::{
    Database, META, Trouble, collect, json, number, of_json, of_json_if_any, parsed, stored,
};
use crate::state::meta::{ended_fleet, may_become, may_end};
use crate::state::{DecisionRecord, FleetLead, FleetPlan, FleetRecord, MetaState, StateError};
use crate::{Accounts, AggregatedResult, HarnessId, Member, MemberState};

/// The state of a coordinator in a SQLite file, for several processes at once.
///
/// It promises what [`SqliteState`](super::SqliteState) does.
///
/// ```
/// use autonoe_harness::{FleetPlan, MetaState, SqliteMeta};
/// use jiff::Timestamp;
/// use serde_json::json;
///
/// # #[tokio::main(flavor = "current_thread")]
/// # async fn main() -> Result<(), Box<dyn std::error::Error>> {
/// # let dir = tempfile::tempdir()?;
/// let meta = SqliteMeta::open(&dir.path().join(".harness/meta_state.db")).await?;
/// meta.create_fleet(&FleetPlan::new("login", json!({})), Timestamp::now()).await?;
///
/// assert_eq!(meta.fleets().await?.len(), 1);
/// # Ok(())
/// # }
/// ```
#[derive(Debug)]
pub struct SqliteMeta {
    database: Database,
}

impl SqliteMeta {
    /// Opens the file at `path`, and makes it and its folder if there is none.
    ///
    /// # Errors
    ///
    /// The file is damaged, somebody else's or of a newer version, or cannot be opened.
    pub async fn open(path: &Path) -> Result<Self, StateError> {
        let database = Database::open(path, &META).await?;
        Ok(Self { database })
    }

    /// Looks whether the whole file is as it should be.
    ///
    /// # Errors
    ///
    /// [`StateError::Corrupt`].
    pub async fn integrity_check(&self) -> Result<(), StateError> {
        self.database.integrity_check().await
    }

    /// Changes a fleet for who leads it.
    async fn change<T: Send + 'static>(
        &self,
        lead: &FleetLead,
        now: Timestamp,
        work: impl FnOnce(&Connection, &FleetLead) -> Result<T, Trouble> + Send + 'static,
    ) -> Result<T, StateError> {
        let lead = lead.clone();
        self.database
            .write(move |db| {
                let sql = "UPDATE fleets SET updated_at = ?3 WHERE id = ?1 AND epoch = ?2";
                let row = params![lead.fleet, stored(lead.epoch), now.to_string()];
                match db.execute(sql, row)? {
                    0 => Err(lead.fenced().into()),
                    _ => work(db, &lead),
                }
            })
            .await
    }
}

#[async_trait]
impl MetaState for SqliteMeta {
    async fn create_fleet(&self, plan: &FleetPlan, now: Timestamp) -> Result<(), StateError> {
        plan.check()?;
        let plan = plan.clone();
        self.database.write(move |db| create(db, &plan, now)).await
    }

    async fn fleet(&self, id: &str) -> Result<Option<FleetRecord>, StateError> {
        let id = id.to_owned();
        self.database
            .read(move |db| {
                let sql = "SELECT * FROM fleets WHERE id = ?1";
                let found = collect(db, sql, [id], |row| fleet_of(db, row))?;
                Ok(found.into_iter().next())
            })
            .await
    }

    async fn fleets(&self) -> Result<Vec<FleetRecord>, StateError> {
        let sql = "SELECT * FROM fleets ORDER BY number";
        self.database
            .read(move |db| collect(db, sql, [], |row| fleet_of(db, row)))
            .await
    }

    async fn lead(&self, fleet: &str, now: Timestamp) -> Result<FleetLead, StateError> {
        let fleet = fleet.to_owned();
        self.database
            .write(move |db| {
                let sql = "UPDATE fleets SET epoch = epoch + 1, updated_at = ?2 WHERE id = ?1
                           RETURNING epoch";
                let read = |row: &Row<'_>| Ok(number(row, "epoch"));
                let found = db.query_row(sql, params![fleet, now.to_string()], read);
                match found.optional()? {
                    Some(epoch) => Ok(FleetLead::new(fleet, epoch?)),
                    None => Err(StateError::Unknown(format!("fleet {fleet}")).into()),
                }
            })
            .await
    }

    async fn set_member(
        &self,
        lead: &FleetLead,
        member: &HarnessId,
        state: &MemberState,
        now: Timestamp,
    ) -> Result<(), StateError> {
        let (member, state) = (member.clone(), state.clone());
        let work = move |db: &Connection, lead: &FleetLead| set(db, lead, &member, &state);
        self.change(lead, now, work).await
    }

    async fn finish_fleet(
        &self,
        lead: &FleetLead,
        result: &AggregatedResult,
        now: Timestamp,
    ) -> Result<(), StateError> {
        let result = result.clone();
        let work = move |db: &Connection, lead: &FleetLead| finish(db, lead, &result);
        self.change(lead, now, work).await
    }

    async fn append_decision(
        &self,
        lead: &FleetLead,
        decision: &Value,
        now: Timestamp,
    ) -> Result<u64, StateError> {
        let decision = decision.clone();
        let work = move |db: &Connection, lead: &FleetLead| {
            let sql = "INSERT INTO decisions
                       SELECT ?1, coalesce(max(number), 0) + 1, ?2, ?3, ?4
                       FROM decisions WHERE fleet = ?1 RETURNING number";
            let epoch = stored(lead.epoch);
            let row = params![lead.fleet, json(&decision)?, epoch, now.to_string()];
            db.query_row(sql, row, |row| Ok(number(row, "number")))?
        };
        self.change(lead, now, work).await
    }

    async fn decisions(&self, fleet: &str) -> Result<Vec<DecisionRecord>, StateError> {
        let sql = "SELECT * FROM decisions WHERE fleet = ?1 ORDER BY number";
        let fleet = fleet.to_owned();
        self.database
            .read(move |db| collect(db, sql, [fleet], decision_of))
            .await
    }

    async fn save_accounts(
        &self,
        lead: &FleetLead,
        accounts: &Accounts,
        now: Timestamp,
    ) -> Result<(), StateError> {
        let accounts = accounts.clone();
        let work = move |db: &Connection, lead: &FleetLead| {
            let sql = "UPDATE fleets SET accounts = ?2 WHERE id = ?1";
            db.execute(sql, params![lead.fleet, json(&accounts)?])?;
            Ok(())
        };
        self.change(lead, now, work).await
    }

    async fn accounts(&self, fleet: &str) -> Result<Option<Accounts>, StateError> {
        let sql = "SELECT accounts FROM fleets WHERE id = ?1";
        let fleet = fleet.to_owned();
        self.database
            .read(move |db| {
                let found = collect(db, sql, [fleet], |row| of_json_if_any(row, "accounts"))?;
                Ok(found.into_iter().next().flatten())
            })
            .await
    }
}

fn create(db: &Connection, plan: &FleetPlan, now: Timestamp) -> Result<(), Trouble> {
    let spec = json(&plan.spec)?;
    let found: Option<String> = db
        .query_row("SELECT spec FROM fleets WHERE id = ?1", [&plan.id], |row| {
            row.get(0)
        })
        .optional()?;
    if let Some(found) = found {
        let (members, planned) = (members_of(db, &plan.id)?, specs_of(plan)?);
        let same_members = members.len() == planned.len()
            && members
                .iter()
                .zip(&planned)
                .all(|(one, other)| one.0 == other.0 && is_same_json(&one.1, &other.1));
        return match is_same_json(&found, &spec) && same_members {
            true => Ok(()),
            false => Err(StateError::Conflict(format!("fleet {}", plan.id)).into()),
        };
    }
    db.execute(
        "INSERT INTO fleets (id, spec, epoch, created_at, updated_at) VALUES (?1, ?2, 0, ?3, ?3)",
        params![plan.id, spec, now.to_string()],
    )?;
    let waits = json(&MemberState::Waiting)?;
    for (place, (member, spec)) in (0_i64..).zip(specs_of(plan)?) {
        let row = params![plan.id, place, member, spec, waits];
        db.execute("INSERT INTO members VALUES (?1, ?2, ?3, ?4, ?5)", row)?;
    }
    Ok(())
}

/// Tells whether two texts say the same.
///
/// As texts first: a number that is read back may differ in its last digit.
fn is_same_json(one: &str, other: &str) -> bool {
    let read = |text| serde_json::from_str::<Value>(text).ok();
    one == other || read(one).is_some_and(|one| Some(one) == read(other))
}

/// Returns the members of a plan with what they are to do as text.
fn specs_of(plan: &FleetPlan) -> Result<Vec<(String, String)>, Trouble> {
    let members = plan.members.iter();
    members
        .map(|(id, spec)| Ok((id.as_str().to_owned(), json(spec)?)))
        .collect()
}

fn members_of(db: &Connection, fleet: &str) -> Result<Vec<(String, String)>, Trouble> {
    let sql = "SELECT * FROM members WHERE fleet = ?1 ORDER BY place";
    collect(db, sql, [fleet], |row| {
        Ok((row.get("id")?, row.get("spec")?))
    })
}

fn set(
    db: &Connection,
    lead: &FleetLead,
    member: &HarnessId,
    state: &MemberState,
) -> Result<(), Trouble> {
    let sql = "SELECT state FROM members WHERE fleet = ?1 AND id = ?2";
    let key = [lead.fleet.as_str(), member.as_str()];
    let found = collect(db, sql, key, |row| {
        Ok((
            row.get::<_, String>("state")?,
            of_json::<MemberState>(row, "state")?,
        ))
    })?;
    let Some((before, before_state)) = found.into_iter().next() else {
        return Err(StateError::Unknown(format!("member {member}")).into());
    };
    let after = json(state)?;
    if before == after || !may_become(member, &before_state, state)? {
        return Ok(());
    }
    if has_ended(db, &lead.fleet)?.is_some() {
        return Err(ended_fleet(&lead.fleet).into());
    }
    let sql = "UPDATE members SET state = ?3 WHERE fleet = ?1 AND id = ?2";
    db.execute(sql, params![lead.fleet, member.as_str(), after])?;
    Ok(())
}

fn finish(db: &Connection, lead: &FleetLead, result: &AggregatedResult) -> Result<(), Trouble> {
    let after = json(result)?;
    if let Some((before, before_result)) = has_ended(db, &lead.fleet)? {
        return match before == after {
            true => Ok(()),
            false => Ok(may_end(&lead.fleet, Some(&before_result), result).map(|_| ())?),
        };
    }
    let sql = "UPDATE fleets SET result = ?2 WHERE id = ?1";
    db.execute(sql, params![lead.fleet, after])?;
    Ok(())
}

/// Returns what a fleet came to, as it stands there and read.
fn has_ended(db: &Connection, fleet: &str) -> Result<Option<(String, AggregatedResult)>, Trouble> {
    let sql = "SELECT result FROM fleets WHERE id = ?1 AND result IS NOT NULL";
    let found = collect(db, sql, [fleet], |row| {
        Ok((row.get("result")?, of_json(row, "result")?))
    })?;
    Ok(found.into_iter().next())
}

fn fleet_of(db: &Connection, row: &Row<'_>) -> Result<FleetRecord, Trouble> {
    let id: String = row.get("id")?;
    let sql = "SELECT * FROM members WHERE fleet = ?1 ORDER BY place";
    let members = collect(db, sql, [&id], |row| {
        let (id, state) = (
            HarnessId::new(row.get::<_, String>("id")?),
            of_json(row, "state")?,
        );
        let member = Member {
            id: id.clone(),
            state,
        };
        Ok(((id, of_json(row, "spec")?), member))
    })?;
    let (planned, members) = members.into_iter().unzip();
    Ok(FleetRecord {
        plan: FleetPlan {
            id,
            spec: of_json(row, "spec")?,
            members: planned,
        },
        members,
        result: of_json_if_any(row, "result")?,
        epoch: number(row, "epoch")?,
        created_at: parsed(row, "created_at")?,
        updated_at: parsed(row, "updated_at")?,
    })
}

fn decision_of(row: &Row<'_>) -> Result<DecisionRecord, Trouble> {
    Ok(DecisionRecord {
        number: number(row, "number")?,
        decision: of_json(row, "decision")?,
        epoch: number(row, "epoch")?,
        at: parsed(row, "at")?,
    })
}
