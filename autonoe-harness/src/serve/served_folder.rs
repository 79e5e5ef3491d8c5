//! State of a folder while this process serves it.

use std::collections::BTreeSet;
use std::sync::Arc;
use std::time::Duration;

use autonoe_core::RunControl;
use autonoe_core::agent::BudgetUsage;
use autonoe_core::engine::{RunEnding, RunOutcome, RunProgress};
use autonoe_core::run::RunMessage;
use autonoe_core::time::{Clock, Epoch};

use autonoe_process::Marker;
use jiff::Timestamp;

use crate::alert::{Alert, AlertManager, Severity};
use crate::folder::{
    FolderError, MemberFact, MemberFolder, MemberLog, MemberStatus, MemberStatusRecord,
    PostedInstruction,
};
use crate::folder::{MemberJournal, TextFiles, as_lower_bound, status_of};

/// Time limit for killing remaining processes of a run.
const SWEEP: Duration = Duration::from_secs(10);

/// Outcome of serving a folder.
#[derive(Clone, Debug, PartialEq)]
pub enum ServeOutcome {
    /// The run has ended, now or before.
    Ended(Box<RunOutcome>),
    /// This process had to leave: the run has not ended, and can be served again.
    Released,
}

/// A folder that this process serves: requests read from it, and their effect on the run.
pub(super) struct ServedFolder {
    folder: MemberFolder,
    /// Determined at the start: it is needed even if the folder is gone.
    marker: Marker,
    clock: Arc<dyn Clock>,
    control: RunControl,
    journal: Arc<MemberJournal>,
    log: MemberLog,
    state: MemberStatusRecord,
    /// Whether the status differs from the file.
    is_dirty: bool,
    delivered_numbers: BTreeSet<u64>,
    too_late: BTreeSet<u64>,
    named: BTreeSet<String>,
    texts: TextFiles,
    is_paused: bool,
    /// Whether the run has reported its progress to this process.
    has_reported: bool,
    stop: Option<String>,
}

impl ServedFolder {
    /// Starts to serve the folder, in the next epoch. The caller holds the lock.
    pub(super) fn start(folder: MemberFolder, clock: Arc<dyn Clock>) -> Result<Self, FolderError> {
        // The status of an earlier process must be readable, or it is not overwritten.
        let before = folder.state()?;
        let journal = folder.open_journal()?;
        let now = clock.now();
        let pid = std::process::id();
        journal.write(now, MemberFact::Serving { pid })?;
        let mut state = MemberStatusRecord::new(folder.id().clone(), journal.epoch(), now);
        // Until the run reports otherwise, earlier spending is kept.
        state.progress = before.map(|before| before.progress).unwrap_or_default();
        folder.write_state(&state)?;
        let mut log = MemberLog::open(&folder)?;
        log.line(
            now,
            &format!("served by process {pid}, epoch {}", state.epoch.0),
        );
        Ok(Self {
            marker: folder.marker()?,
            folder,
            clock,
            control: RunControl::new(),
            journal: Arc::new(journal),
            log,
            state,
            is_dirty: false,
            delivered_numbers: BTreeSet::new(),
            too_late: BTreeSet::new(),
            named: BTreeSet::new(),
            texts: TextFiles::default(),
            is_paused: false,
            has_reported: false,
            stop: None,
        })
    }

    pub(super) fn control(&self) -> &RunControl {
        &self.control
    }

    /// Returns the reason of a stop request, if there is one.
    pub(super) fn stop(&self) -> Option<&str> {
        self.stop.as_deref()
    }

    /// Returns whether the folder still exists.
    pub(super) fn folder_exists(&self) -> bool {
        !matches!(self.folder.order(), Err(FolderError::NoOrder { .. }))
    }

    pub(super) fn folder_removed_error(&self) -> FolderError {
        FolderError::NoOrder {
            path: self.folder.path().to_owned(),
        }
    }

    /// Records the progress of the run, if it has reported any.
    pub(super) fn record_progress(&mut self, at: Option<RunProgress>) {
        let Some(at) = at else {
            return;
        };
        self.has_reported = true;
        if self.state.progress != at {
            self.state.progress = at;
            self.is_dirty = true;
        }
    }

    /// Returns the known spending of an interrupted run: spending since its last report is unknown.
    pub(super) fn spending_lower_bound(&self) -> BudgetUsage {
        as_lower_bound(self.state.progress.spent)
    }

    /// Returns the spending of earlier processes.
    pub(super) fn earlier_spending(&self) -> BudgetUsage {
        match self.state.epoch {
            Epoch(..=1) => self.state.progress.spent,
            _ => self.spending_lower_bound(),
        }
    }

    /// Polls the folder. An error is logged, and the next poll retries.
    pub(super) fn poll_or_log(&mut self) {
        if let Err(error) = self.poll() {
            tracing::warn!(%error, "cannot read the folder of a member");
            let now = self.clock.now();
            self.log.line(now, &format!("error: {error}"));
        }
    }

    /// Reads requests from the folder, and passes them to the run.
    pub(super) fn poll(&mut self) -> Result<(), FolderError> {
        self.read_stop_request()?;
        self.read_pause_request()?;
        // The run would never read them.
        if self.stop.is_none() {
            self.read_inbox()?;
        }
        self.write_state()
    }

    fn read_stop_request(&mut self) -> Result<(), FolderError> {
        if self.stop.is_some() {
            return Ok(());
        }
        if let Some(reason) = self.folder.stop_requested()? {
            // First of all: the cancellation takes effect even if nothing can be recorded any more.
            self.control.cancel();
            self.stop = Some(reason.clone());
            self.note(MemberFact::StopRequested { reason })?;
        }
        Ok(())
    }

    fn read_pause_request(&mut self) -> Result<(), FolderError> {
        let is_requested = self.folder.is_pause_requested()?;
        // Before the first report, the question is the one of an earlier process, and no run waits
        // for an answer.
        let resumes = self.has_reported && self.folder.take_resume_request()?;
        if is_requested == self.is_paused {
            let asks_question = self.state.progress.question.is_some();
            if resumes && asks_question && !self.is_paused {
                self.note(MemberFact::ResumeRequested)?;
                self.control.resume();
            }
            return Ok(());
        }
        if is_requested {
            self.note(MemberFact::PauseRequested)?;
            self.control.pause();
            self.state.status = MemberStatus::Paused;
        } else {
            self.note(MemberFact::ResumeRequested)?;
            self.control.resume();
            self.state.status = MemberStatus::Running;
        }
        self.is_paused = is_requested;
        self.is_dirty = true;
        Ok(())
    }

    /// Turns text files in the inbox that have not changed for `settled` into instructions.
    fn adopt_texts(&mut self, settled: Duration) -> Result<Vec<(String, String)>, FolderError> {
        let now = self.clock.now();
        let adopted = self.texts.adopt(&self.folder, now, settled)?;
        for (name, number) in adopted.instructions {
            let line = format!("{name} in the inbox becomes instruction {number}");
            self.log.line(now, &line);
        }
        Ok(adopted.refused)
    }

    fn read_inbox(&mut self) -> Result<(), FolderError> {
        let refused = self.adopt_texts(TextFiles::SETTLED)?;
        let waiting = self.folder.inbox()?;
        for (name, problem) in refused.into_iter().chain(waiting.unreadable) {
            if self.named.insert(name.clone()) {
                self.note(MemberFact::InstructionUnreadable { name, problem })?;
            }
        }
        for instruction in waiting.instructions {
            let number = instruction.number;
            if self.journal.was_delivered(number) {
                // An earlier process was killed before it could move the instruction.
                self.folder.mark_delivered(number)?;
            } else if !self.delivered_numbers.contains(&number) {
                self.deliver(instruction)?;
            }
        }
        Ok(())
    }

    /// Passes an instruction to the run, after it was recorded in the journal.
    fn deliver(&mut self, instruction: PostedInstruction) -> Result<(), FolderError> {
        let PostedInstruction { number, text, .. } = instruction;
        self.note(MemberFact::InstructionQueued {
            number,
            text: text.clone(),
        })?;
        self.delivered_numbers.insert(number);
        let (journal, folder) = (self.journal.clone(), self.folder.clone());
        let clock = self.clock.clone();
        let receipt = move || {
            let delivered = MemberFact::InstructionDelivered { number };
            let now = clock.now();
            let line = delivered.log_line();
            let noted = journal.write(now, delivered);
            if let Ok(mut log) = MemberLog::open(&folder) {
                log.line(now, &line);
            }
            if let Err(error) = noted.and_then(|()| folder.mark_delivered(number)) {
                tracing::error!(%error, number, "cannot record the delivery of an instruction");
            }
        };
        let message = RunMessage::new(text)
            .with_id(number.to_string())
            .with_receipt(receipt);
        self.control.send_message(message);
        Ok(())
    }

    /// Records a fact in the journal and the log.
    fn note(&mut self, fact: MemberFact) -> Result<(), FolderError> {
        let line = fact.log_line();
        let now = self.clock.now();
        self.journal.write(now, fact)?;
        self.log.line(now, &line);
        Ok(())
    }

    fn write_state(&mut self) -> Result<(), FolderError> {
        if self.is_dirty {
            self.state.updated_at = self.clock.now();
            self.folder.write_state(&self.state)?;
            self.is_dirty = false;
        }
        Ok(())
    }

    /// Records the outcome of the run, once none of its processes are left.
    pub(super) async fn end(
        mut self,
        mut outcome: RunOutcome,
    ) -> Result<ServeOutcome, FolderError> {
        // The run does not know the reason of its cancellation; the stop request does.
        if let (RunEnding::Cancelled { reason }, Some(requested)) =
            (&mut outcome.ending, &self.stop)
        {
            requested.clone_into(reason);
        }
        // A run that reports no spending has spent at least what it last reported.
        if outcome.spent == BudgetUsage::default()
            && self.state.progress.spent != BudgetUsage::default()
        {
            outcome.spent = self.spending_lower_bound();
        }
        self.sweep().await;
        let now = self.clock.now();
        // Before the end is recorded: the leader of a fleet may exit a moment later.
        self.report_undelivered().await;
        let ended = MemberFact::Ended {
            outcome: Box::new(outcome.clone()),
        };
        self.log.line(now, &ended.log_line());
        let outcome = self.folder.record_outcome(&outcome, now)?;
        self.report_undelivered().await;
        self.state.status = status_of(&outcome);
        self.clear_process();
        Ok(ServeOutcome::Ended(outcome.into()))
    }

    /// Records that the run was cancelled without reporting its final spending.
    pub(super) async fn abandon(mut self) -> Result<ServeOutcome, FolderError> {
        let now = self.clock.now();
        self.log
            .line(now, "warning: the run did not stop in time and was aborted");
        let spent = self.spending_lower_bound();
        self.end(RunOutcome::cancelled("").with_spent(spent)).await
    }

    /// Releases a run that has not ended.
    pub(super) async fn release(mut self) -> Result<ServeOutcome, FolderError> {
        self.sweep().await;
        self.note(MemberFact::Released)?;
        self.state.status = MemberStatus::Pending;
        self.clear_process();
        Ok(ServeOutcome::Released)
    }

    fn clear_process(&mut self) {
        self.state.process = None;
        self.is_dirty = true;
        // The outcome is what counts, and a dead process is recognised as such.
        if let Err(error) = self.write_state() {
            tracing::warn!(%error, "cannot write the last status of a member");
        }
    }

    /// Kills the remaining processes of the run: all that carry the marker, except this process.
    pub(super) async fn sweep(&mut self) {
        let marker = self.marker.clone();
        let swept = tokio::task::spawn_blocking(move || marker.kill_all(SWEEP)).await;
        let swept = swept.unwrap_or_default();
        let now = self.clock.now();
        if !swept.killed.is_empty() {
            let killed = swept.killed.len();
            self.log
                .line(now, &format!("killed {killed} leftover processes"));
        }
        if !swept.left.is_empty() {
            let left = swept.left.len();
            self.log.line(
                now,
                &format!("error: cannot kill {left} leftover processes"),
            );
        }
    }

    /// Reports instructions that arrived too late for any agent, each once.
    async fn report_undelivered(&mut self) {
        let now = self.clock.now();
        if let Err(error) = self.adopt_texts(Duration::ZERO) {
            tracing::warn!(%error, "cannot read text files in an inbox");
        }
        let waiting = self.folder.inbox().unwrap_or_default();
        for PostedInstruction { number, .. } in waiting.instructions {
            if !self.journal.was_delivered(number) && self.too_late.insert(number) {
                let message = alert_too_late(&self.folder, number, now).await;
                self.log.line(now, &format!("warning: {message}"));
            }
        }
    }
}

/// Raises the alert that an instruction arrived too late for any agent, and returns its message.
/// Its sender was promised the next turn, and there was none.
async fn alert_too_late(folder: &MemberFolder, number: u64, now: Timestamp) -> String {
    let message = format!("instruction {number} arrived after the last turn of the agent");
    let alert = Alert::new("instruction_too_late", Severity::Warning, &message, now)
        .member(folder.id().clone())
        .detail("instruction", number);
    let mut alerts = AlertManager::new(folder.alert_log().path());
    if let Some(root) = folder.path().parent() {
        alerts = alerts.shared_log(root.join("alerts.log"));
    }
    if let Err(error) = alerts.alert(alert).await {
        tracing::warn!(%error, "cannot record an alert");
    }
    message
}
