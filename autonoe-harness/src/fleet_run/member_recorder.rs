//! Records the work of a member: its journal, and everything derived from it.

use std::error::Error;
use std::path::{Path, PathBuf};
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
use crate::folder::{FolderError, JournalEntry, MemberFolder, MemberLog, MemberStatus};
use crate::shared::{ArtifactName, NewMemberEvent, SharedContext, SharedError};
use crate::state::{MemberPlan, SqliteState, StateError};
use crate::strategy::{MemberId, MemberReport};
use crate::work::{RecoveredState, WorkEvent, WorkJournal, WorkObserver, WorkOrder};

/// Interval of the checks whether the process has paused.
const PAUSE_POLL: Duration = Duration::from_millis(50);

/// Maximum number of such checks. The server of a folder polls for requests every second.
const PAUSE_POLLS: usize = 200;

pub(super) type BoxError = Box<dyn std::error::Error + Send + Sync>;

/// Records the work of a member in its journal, `work.jsonl`, which is the source of truth. The
/// state (`state.db`), the log, the alerts and the shared events are derived from the journal.
pub(super) struct MemberRecorder {
    id: MemberId,
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
        let path = journal_of(&folder);
        let unusable = |error: std::io::Error| {
            Failure::permanent("journal", format!("cannot open {path:?}: {error}"))
        };
        let journal = WorkJournal::open(&path).map_err(unusable)?;
        let entries = WorkJournal::read(&path).map_err(unusable)?;
        let log = MemberLog::open(&folder)
            .map_err(|error| Failure::permanent("member_folder", error.to_string()))?;
        let roadmap = order.roadmap.as_deref();
        let rebuilt = rebuild_state(&folder, order, roadmap, &entries, clock.now()).await;
        let RebuiltState {
            state,
            projection,
            events,
        } = rebuilt.map_err(not_recorded)?;
        let recorder = Self {
            id: folder.id().clone(),
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

    /// Shares the outcome of the member: its output as an artifact, and one event. Sharing it again
    /// after a kill changes nothing.
    ///
    /// A failure does not undo the work: it raises an alert.
    pub(super) async fn share(&self, outcome: &RunOutcome) {
        if let Err(error) = self.try_share(outcome).await {
            let message = format!("cannot share the result: {error}");
            let now = self.clock.now();
            self.alert(Alert::new("not_shared", Severity::Warning, message, now))
                .await;
        }
    }

    async fn try_share(&self, outcome: &RunOutcome) -> Result<(), BoxError> {
        let result = MemberReport::from_outcome(&self.id, outcome);
        let end = MemberEnd::read(&self.folder)?;
        let shared = self.shared().await?;
        end.share(shared, &self.folder, outcome, &result, self.clock.now())
            .await
    }

    fn line(&self, text: &str) {
        let mut log = self.log.lock().unwrap_or_else(PoisonError::into_inner);
        log.line(self.clock.now(), text);
    }

    /// Raises an alert. A failure to record it is logged, and blocks nothing.
    async fn alert(&self, alert: Alert) {
        if let Err(error) = self.alerts.alert(alert.member(self.id.clone())).await {
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

fn journal_of(folder: &MemberFolder) -> PathBuf {
    folder.path().join("work.jsonl")
}

#[expect(clippy::needless_pass_by_value, reason = "it is given to `map_err`")]
fn not_recorded(error: StateError) -> Failure {
    Failure::permanent("not_recorded", error.to_string())
}

/// The journal of a member that has ended, as shared events.
pub(super) struct MemberEnd {
    projection: MemberProjection,
    /// All shared events of the journal, without that of the end.
    events: Vec<NewMemberEvent>,
    /// The time of the last entry.
    last: Option<Timestamp>,
}

impl MemberEnd {
    /// Reads the journal of a member.
    pub(super) fn read(folder: &MemberFolder) -> Result<Self, FolderError> {
        let entries = folder.entries()?;
        let mut projection = MemberProjection::new(folder.id().clone());
        let mut events = Vec::new();
        for entry in &entries {
            if let JournalEntry::Work(event) = entry {
                events.extend(projection.apply(event).events);
            }
        }
        Ok(Self {
            projection,
            events,
            last: entries.iter().rev().find_map(JournalEntry::at),
        })
    }

    /// Publishes the output of the member, and emits its events. Sharing them again after a kill
    /// changes nothing.
    pub(super) async fn share(
        &self,
        shared: &SharedContext,
        folder: &MemberFolder,
        outcome: &RunOutcome,
        result: &MemberReport,
        at: Timestamp,
    ) -> Result<(), BoxError> {
        let artifact = format!("{}.md", folder.id());
        let name: ArtifactName = artifact.parse()?;
        let path = folder.path().join("output.md");
        replace_file_durably(&path, result.output.as_bytes())?;
        let about = json!({"success": result.success});
        shared
            .publish_artifact(&name, &path, folder.id(), &about, at)
            .await?;
        let end = self
            .projection
            .outcome_event(outcome, result, &artifact, at);
        for event in self.events.iter().chain(&end) {
            shared.emit_event(event).await?;
        }
        Ok(())
    }
}

impl FleetRun {
    /// Shares the ends of members whose processes did not: a killed or lost process shares nothing.
    /// A failure is logged: nothing is lost, because the events are derived from the journal.
    pub(super) async fn share_member_ends(&self) {
        for member in &self.order.members {
            if let Err(error) = self.share_member_end(member).await {
                let member = &member.id;
                tracing::warn!(%member, %error, "cannot share the end of a member");
            }
        }
    }

    async fn share_member_end(&self, member: &FleetMember) -> Result<(), BoxError> {
        let folder = self.home.member_folder(&self.order.name, &member.id)?;
        let end = MemberEnd::read(&folder)?;
        // A member that was never started, or that works on another engine, has no journal here.
        let (Some(key), Some(at)) = (end.projection.end_key(), end.last) else {
            return Ok(());
        };
        let Some(outcome) = folder.outcome()? else {
            return Ok(());
        };
        let shared = self.home.shared().await?;
        if shared.has_event(&key).await? {
            return Ok(());
        }
        let result = MemberReport::from_outcome(folder.id(), &outcome);
        end.share(&shared, &folder, &outcome, &result, at).await
    }
}

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
