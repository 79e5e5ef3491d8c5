//! Rebuilds `state.db` of a member from its journal.

use std::error::Error;
use std::path::Path;

use jiff::Timestamp;

use super::member_projection::MemberProjection;
use super::{FleetMember, FleetRun};
use crate::folder::MemberFolder;
use crate::shared::NewMemberEvent;
use crate::state::{MemberPlan, SqliteState, StateError};
use crate::work::{WorkEvent, WorkJournal, WorkOrder};

/// The state of a member at the end of its journal.
pub(super) struct RebuiltState {
    pub(super) state: SqliteState,
    pub(super) projection: MemberProjection,
    /// All shared events of the journal.
    pub(super) events: Vec<NewMemberEvent>,
}

/// Replaces the content of `state.db` by what the journal has, and creates the file if it is
/// missing.
pub(super) async fn rebuild_state(
    folder: &MemberFolder,
    work: &WorkOrder,
    roadmap: Option<&Path>,
    entries: &[WorkEvent],
    now: Timestamp,
) -> Result<RebuiltState, StateError> {
    let id = folder.id().clone();
    let mut projection = MemberProjection::new(id.clone());
    let (mut changes, mut events) = (Vec::new(), Vec::new());
    for entry in entries {
        let projected = projection.apply(entry);
        changes.extend(projected.changes);
        events.extend(projected.events);
    }
    let mut plan = MemberPlan::new(id, work.tasks.iter().cloned());
    plan.roadmap = roadmap.map(Path::to_owned);
    let state = SqliteState::open(&folder.path().join("state.db")).await?;
    state.rebuild(plan, changes, now).await?;
    Ok(RebuiltState {
        state,
        projection,
        events,
    })
}

impl FleetRun {
    /// Rebuilds the missing states of members that no process serves. A failure is logged: nothing
    /// is lost, because the state is derived from the journal.
    pub(super) async fn rebuild_member_states(&self) {
        for member in &self.order.members {
            if let Err(error) = self.rebuild_member_state(member).await {
                let member = &member.id;
                tracing::warn!(%member, %error, "cannot rebuild the state of a member");
            }
        }
    }

    async fn rebuild_member_state(
        &self,
        member: &FleetMember,
    ) -> Result<(), Box<dyn Error + Send + Sync>> {
        let folder = self.home.member_folder(&self.order.name, &member.id)?;
        if folder.path().join("state.db").exists() || folder.is_served()? {
            return Ok(());
        }
        let entries = WorkJournal::read(&folder.path().join("work.jsonl"))?;
        // A member on another engine has no journal here.
        if !entries.is_empty() {
            let roadmap = self.order.roadmap.as_deref();
            let now = self.clock.now();
            rebuild_state(&folder, &member.work, roadmap, &entries, now).await?;
        }
        Ok(())
    }
}
