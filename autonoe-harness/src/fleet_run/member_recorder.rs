//! Records the work of a member: its journal, and everything derived from it.

use std::sync::{Arc, PoisonError};
use std::time::Duration;

use async_trait::async_trait;
use autonoe_core::engine::RunOutcome;
use autonoe_core::event::Failure;
use autonoe_core::project::replace_file_durably;
use autonoe_core::time::Clock;
use jiff::Timestamp;
use serde_json::json;
use tokio::sync::{Mutex, OnceCell};

use super::log_messages::MemberMessages;
use super::member_projection::MemberProjection;
use super::{FleetHome, FleetMember, FleetRun};
use crate::alert::{Alert, AlertManager, Severity};
use crate::folder::{FolderError, JournalEntry, MemberFolder, MemberLog, MemberStatus, events_in};
use crate::shared::{ArtifactName, NewMemberEvent, SharedContext, SharedError};
use crate::state::{MemberPlan, SqliteState, StateError};
use crate::strategy::MemberReport;
use crate::work::{RecoveredState, WorkEvent, WorkJournal, WorkObserver, WorkOrder};

/// Interval of the checks whether the process has paused.
const PAUSE_POLL: Duration = Duration::from_millis(50);

/// Maximum number of such checks. The server of a folder polls for requests every second.
const PAUSE_POLLS: usize = 200;

type BoxError = Box<dyn std::error::Error + Send + Sync>;

/// Records the work of a member in its journal, `work.jsonl`, which is the source of truth. The
/// state (`state.db`), the log, the alerts and the shared events are derived from the journal.
pub(super) struct MemberRecorder {
    folder: MemberFolder,
    clock: Arc<dyn Clock>,
    alerts: AlertManager,
    home: FleetHome,
    shared: OnceCell<SharedContext>,
    journal: WorkJournal,
    state: SqliteState,
    log: std::sync::Mutex<MemberLog>,
    followed: Mutex<Followed>,
    /// Whether the work waits for the pause that a critical alert requests.
    pauses: bool,
}

/// Position in the journal.
struct Followed {
    projection: MemberProjection,
    messages: MemberMessages,
}

impl MemberRecorder {
    /// Opens the records of a member. Rebuilds its state from the journal, and emits events that a
    /// killed process did not share.
    pub(super) async fn open(
        home: FleetHome,
        folder: MemberFolder,
        order: &WorkOrder,
        clock: Arc<dyn Clock>,
        alerts: AlertManager,
    ) -> Result<Self, Failure> {
        let path = folder.path().join("work.jsonl");
        let unusable = |error: FolderError| error.failure("journal");
        let journal = WorkJournal::open(&path).map_err(unusable)?;
        let entries = folder.work_events().map_err(unusable)?;
        let log = MemberLog::open(&folder).map_err(|error| error.failure("member_folder"))?;
        let plan = MemberPlan {
            roadmap: order.roadmap.clone(),
            ..MemberPlan::new(folder.id().clone(), order.tasks.iter().cloned())
        };
        let rebuilt = rebuild_state(&folder, plan, &entries, clock.now()).await;
        let (state, projection, events) = rebuilt.map_err(not_recorded)?;
        let recorder = Self {
            folder,
            clock,
            alerts,
            home,
            shared: OnceCell::new(),
            journal,
            state,
            log: log.into(),
            followed: Mutex::new(Followed {
                projection,
                messages: MemberMessages::default(),
            }),
            pauses: order.pause_on_critical,
        };
        recorder.emit(&events).await;
        Ok(recorder)
    }

    /// Opens the shared context of the fleets, or returns it if it is open.
    async fn shared(&self) -> Result<&SharedContext, SharedError> {
        self.shared.get_or_try_init(|| self.home.shared()).await
    }

    /// Emits shared events. A failure does not block the work: [`share`](Self::share) emits all of
    /// them again.
    async fn emit(&self, events: &[NewMemberEvent]) {
        if let Err(error) = self.try_emit(events).await {
            tracing::warn!(%error, "cannot share events of a member");
            self.line(&format!("warning: cannot share events: {error}"));
        }
    }

    async fn try_emit(&self, events: &[NewMemberEvent]) -> Result<(), SharedError> {
        if events.is_empty() {
            return Ok(());
        }
        let shared = self.shared().await?;
        for event in events {
            shared.emit_event(event).await?;
        }
        Ok(())
    }

    /// Shares the end of the member. A failure does not undo the work: it raises an alert.
    pub(super) async fn share(&self, outcome: &RunOutcome) {
        if let Err(error) = self.try_share(outcome).await {
            let message = format!("cannot share the result: {error}");
            let now = self.clock.now();
            self.alert(Alert::new("not_shared", Severity::Warning, message, now))
                .await;
        }
    }

    async fn try_share(&self, outcome: &RunOutcome) -> Result<(), BoxError> {
        let now = self.clock.now();
        share_end(self.shared().await?, &self.folder, outcome, now).await
    }

    fn line(&self, text: &str) {
        let mut log = self.log.lock().unwrap_or_else(PoisonError::into_inner);
        log.line(self.clock.now(), text);
    }

    /// Raises an alert. A failure to record it is logged, and blocks nothing.
    async fn alert(&self, alert: Alert) {
        if let Err(error) = self
            .alerts
            .alert(alert.member(self.folder.id().clone()))
            .await
        {
            tracing::warn!(%error, "cannot record an alert of a member");
            self.line(&format!("error: {error}"));
        }
    }

    /// Waits until the server of the folder has seen the pause request, so that no work starts in
    /// between, or until the request was withdrawn.
    async fn wait_for_pause(&self) {
        for _ in 0..PAUSE_POLLS {
            let is_requested = self.folder.is_pause_requested().unwrap_or(false);
            let state = self.folder.state().ok().flatten();
            let is_paused = state.is_none_or(|state| state.status == MemberStatus::Paused);
            if !is_requested || is_paused {
                return;
            }
            self.clock.sleep(PAUSE_POLL).await;
        }
        self.line("warning: the pause for a critical alert was not noticed in time");
    }

    /// Waits until every sink has received all alerts.
    pub(super) async fn flush(&self) {
        self.alerts.flush().await;
    }
}

#[async_trait]
impl WorkObserver for MemberRecorder {
    async fn note(&self, event: &WorkEvent) -> Result<(), Failure> {
        self.journal.note(event).await?;
        let mut followed = self.followed.lock().await;
        let projected = followed.projection.apply(event);
        if !projected.changes.is_empty() {
            let applied = self.state.apply(projected.changes).await;
            applied.map_err(not_recorded)?;
        }
        let (line, alert) = followed.messages.render(event, self.clock.now());
        drop(followed);
        if let Some(line) = line {
            self.line(&line);
        }
        self.emit(&projected.events).await;
        if let Some(alert) = alert {
            let is_critical = alert.severity == Severity::Critical;
            self.alert(alert).await;
            if is_critical && self.pauses {
                self.wait_for_pause().await;
            }
        }
        Ok(())
    }

    async fn recovered_state(&self) -> Result<RecoveredState, Failure> {
        self.journal.recovered_state().await
    }
}

#[expect(clippy::needless_pass_by_value, reason = "it is given to `map_err`")]
fn not_recorded(error: StateError) -> Failure {
    Failure::permanent("not_recorded", error.to_string())
}

/// Publishes the output of a member that has ended as an artifact, and emits the events of its
/// journal and of its end. `at` is the time of the end.
///
/// Sharing an end again emits no event twice. It replaces the output: an earlier process may have
/// shared another end and been killed before that was recorded.
async fn share_end(
    shared: &SharedContext,
    folder: &MemberFolder,
    outcome: &RunOutcome,
    at: Timestamp,
) -> Result<(), BoxError> {
    let id = folder.id().clone();
    let (projection, projected) = MemberProjection::replay(id, &folder.work_events()?);
    let result = MemberReport::from_outcome(folder.id(), outcome);
    let artifact = format!("{}.md", folder.id());
    let Some(end) = projection.outcome_event(outcome, &result, &artifact, at) else {
        return Ok(());
    };
    let name: ArtifactName = artifact.parse()?;
    let path = folder.path().join("output.md");
    replace_file_durably(&path, result.output.as_bytes())?;
    let metadata = json!({"success": result.success});
    shared
        .publish_artifact(&name, &path, folder.id(), &metadata, at)
        .await?;
    for event in projected.events.iter().chain([&end]) {
        shared.emit_event(event).await?;
    }
    Ok(())
}

/// Replaces the content of `state.db` by what the journal has, and creates the file if it is
/// missing. Also returns all shared events of the journal.
async fn rebuild_state(
    folder: &MemberFolder,
    plan: MemberPlan,
    entries: &[WorkEvent],
    now: Timestamp,
) -> Result<(SqliteState, MemberProjection, Vec<NewMemberEvent>), StateError> {
    let (projection, projected) = MemberProjection::replay(folder.id().clone(), entries);
    let state = SqliteState::open(&folder.path().join("state.db")).await?;
    state.rebuild(plan, projected.changes, now).await?;
    Ok((state, projection, projected.events))
}

impl FleetRun {
    /// Rebuilds the states of members, which a killed process may have left behind the journal, and
    /// shares the ends of members whose processes did not: a killed or lost process shares nothing.
    /// A failure is logged: nothing is lost, because both are derived from the journal.
    pub(super) async fn complete_member_records(&self) {
        for member in &self.order.members {
            let id = &member.id;
            if let Err(error) = self.rebuild_member_state(member).await {
                tracing::warn!(%id, %error, "cannot rebuild the state of a member");
            }
            if let Err(error) = self.share_member_end(member).await {
                tracing::warn!(%id, %error, "cannot share the end of a member");
            }
        }
    }

    async fn rebuild_member_state(&self, member: &FleetMember) -> Result<(), BoxError> {
        let folder = self.home.member_folder(&self.order.name, &member.id)?;
        // The process that serves a member writes the state until it records the end.
        if folder.is_served()? && folder.outcome()?.is_none() {
            return Ok(());
        }
        let entries = folder.work_events()?;
        // A member on another engine has no journal here.
        if !entries.is_empty() {
            let plan = MemberPlan {
                roadmap: self.order.roadmap.clone(),
                ..MemberPlan::new(folder.id().clone(), member.work.tasks.iter().cloned())
            };
            rebuild_state(&folder, plan, &entries, self.clock.now()).await?;
        }
        Ok(())
    }

    async fn share_member_end(&self, member: &FleetMember) -> Result<(), BoxError> {
        let folder = self.home.member_folder(&self.order.name, &member.id)?;
        let Some(outcome) = folder.outcome()? else {
            return Ok(());
        };
        let entries = folder.entries()?;
        let ended_at = entries.iter().rev().find_map(JournalEntry::at);
        let id = folder.id().clone();
        let (projection, _) = MemberProjection::replay(id, &events_in(entries));
        // A member that was never started, or that works on another engine, has no journal here.
        let (Some(key), Some(at)) = (projection.end_key(), ended_at) else {
            return Ok(());
        };
        let shared = self.home.shared().await?;
        if shared.has_event(&key).await? {
            return Ok(());
        }
        share_end(&shared, &folder, &outcome, at).await
    }
}
