//! A folder while it is served.

use std::collections::BTreeSet;
use std::sync::Arc;
use std::time::Duration;

use autonoe_core::{
    Clock, Epoch, RunControl, RunEnding, RunMessage, RunOutcome, RunProgress, Spent,
};

use autonoe_process::Marker;

use super::{ServeOutcome, too_late};
use crate::folder::{HarnessJournal, TextFiles, at_least, status_of};
use crate::{
    FolderError, HarnessFact, HarnessFolder, HarnessLog, HarnessState, HarnessStatus,
    PostedInstruction,
};

/// How long it is tried at most to end what a run has left.
const SWEEP: Duration = Duration::from_secs(10);

/// A folder while this process serves it: what was seen in it, and what was made of that.
pub(super) struct Served {
    folder: HarnessFolder,
    /// Known from the beginning: it is needed also when the folder is gone.
    marker: Marker,
    clock: Arc<dyn Clock>,
    control: RunControl,
    journal: Arc<HarnessJournal>,
    log: HarnessLog,
    state: HarnessState,
    /// Whether the file says something else.
    is_dirty: bool,
    given: BTreeSet<u64>,
    too_late: BTreeSet<u64>,
    named: BTreeSet<String>,
    texts: TextFiles,
    is_paused: bool,
    stop: Option<String>,
}

impl Served {
    /// Takes the folder, whose lock this process holds, into the next epoch.
    pub(super) fn begin(folder: HarnessFolder, clock: Arc<dyn Clock>) -> Result<Self, FolderError> {
        // What another process left there is understood, or not overwritten.
        let before = folder.state()?;
        let journal = folder.open_journal()?;
        let now = clock.now();
        let pid = std::process::id();
        journal.write(now, HarnessFact::Serving { pid })?;
        let mut state = HarnessState::new(folder.id().clone(), journal.epoch(), now);
        // Until the run says otherwise: what was spent is not forgotten.
        state.at = before.map(|before| before.at).unwrap_or_default();
        folder.write_state(&state)?;
        let mut log = HarnessLog::open(&folder)?;
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
            given: BTreeSet::new(),
            too_late: BTreeSet::new(),
            named: BTreeSet::new(),
            texts: TextFiles::default(),
            is_paused: false,
            stop: None,
        })
    }

    pub(super) fn control(&self) -> &RunControl {
        &self.control
    }

    /// Returns why the run is to end, if it was asked to.
    pub(super) fn stop(&self) -> Option<&str> {
        self.stop.as_deref()
    }

    /// Tells whether the folder is still there.
    pub(super) fn is_there(&self) -> bool {
        !matches!(self.folder.order(), Err(FolderError::NoOrder { .. }))
    }

    pub(super) fn homeless(&self) -> FolderError {
        FolderError::NoOrder {
            path: self.folder.path().to_owned(),
        }
    }

    /// Takes note of how far the run is, once it has said so.
    pub(super) fn progressed(&mut self, at: Option<RunProgress>) {
        if let Some(at) = at
            && self.state.at != at
        {
            self.state.at = at;
            self.is_dirty = true;
        }
    }

    /// Returns what is known of what the run spent that was cut off: what it spent since it last
    /// told is unknown.
    pub(super) fn spent_and_more(&self) -> Spent {
        at_least(self.state.at.spent)
    }

    /// Returns what processes before this one spent.
    pub(super) fn spent_before(&self) -> Spent {
        match self.state.epoch {
            Epoch(..=1) => self.state.at.spent,
            _ => self.spent_and_more(),
        }
    }

    /// Looks what is asked for, and tries again at the next look what could not be done.
    pub(super) fn keep_looking(&mut self) {
        if let Err(error) = self.look() {
            tracing::warn!(%error, "the folder of a sub-harness cannot be looked at");
            let now = self.clock.now();
            self.log.line(now, &format!("error: {error}"));
        }
    }

    /// Looks what is asked for, and hands it to the run.
    pub(super) fn look(&mut self) -> Result<(), FolderError> {
        self.look_for_stop()?;
        self.look_for_pause()?;
        // Nobody would read it.
        if self.stop.is_none() {
            self.look_into_inbox()?;
        }
        self.write_state()
    }

    fn look_for_stop(&mut self) -> Result<(), FolderError> {
        if self.stop.is_some() {
            return Ok(());
        }
        if let Some(reason) = self.folder.stop_requested()? {
            // First of all: it holds also where nothing can be written down any more.
            self.control.cancel();
            self.stop = Some(reason.clone());
            self.note(HarnessFact::StopAsked { reason })?;
        }
        Ok(())
    }

    fn look_for_pause(&mut self) -> Result<(), FolderError> {
        let wanted = self.folder.is_pause_requested()?;
        if wanted == self.is_paused {
            return Ok(());
        }
        if wanted {
            self.note(HarnessFact::PauseAsked)?;
            self.control.pause();
            self.state.status = HarnessStatus::Paused;
        } else {
            self.note(HarnessFact::ResumeAsked)?;
            self.control.resume();
            self.state.status = HarnessStatus::Running;
        }
        self.is_paused = wanted;
        self.is_dirty = true;
        Ok(())
    }

    /// Has text files in the inbox that did not change for `settled` become instructions.
    fn adopt_texts(&mut self, settled: Duration) -> Result<Vec<(String, String)>, FolderError> {
        let now = self.clock.now();
        let adopted = self.texts.adopt(&self.folder, now, settled)?;
        for (name, number) in adopted.instructions {
            let line = format!("{name} in the inbox is instruction {number}");
            self.log.line(now, &line);
        }
        Ok(adopted.refused)
    }

    fn look_into_inbox(&mut self) -> Result<(), FolderError> {
        let refused = self.adopt_texts(TextFiles::SETTLED)?;
        let waiting = self.folder.inbox()?;
        for (name, what) in refused.into_iter().chain(waiting.unreadable) {
            if self.named.insert(name.clone()) {
                self.note(HarnessFact::InstructionUnreadable { name, what })?;
            }
        }
        for instruction in waiting.instructions {
            let number = instruction.number;
            if self.journal.was_told(number) {
                // Its process was killed before it could put it aside.
                self.folder.put_aside(number)?;
            } else if !self.given.contains(&number) {
                self.give(instruction)?;
            }
        }
        Ok(())
    }

    /// Hands an instruction to the run, once the journal has it.
    fn give(&mut self, instruction: PostedInstruction) -> Result<(), FolderError> {
        let PostedInstruction { number, text, .. } = instruction;
        self.note(HarnessFact::InstructionGiven {
            number,
            text: text.clone(),
        })?;
        self.given.insert(number);
        let (journal, folder) = (self.journal.clone(), self.folder.clone());
        let clock = self.clock.clone();
        let receipt = move || {
            let told = HarnessFact::InstructionTold { number };
            let now = clock.now();
            let line = line_of(&told);
            let noted = journal.write(now, told);
            if let Ok(mut log) = HarnessLog::open(&folder) {
                log.line(now, &line);
            }
            if let Err(error) = noted.and_then(|()| folder.put_aside(number)) {
                tracing::error!(%error, number, "nobody will know that an agent was told");
            }
        };
        let message = RunMessage::new(text)
            .with_id(number.to_string())
            .with_receipt(receipt);
        self.control.tell(message);
        Ok(())
    }

    /// Writes a fact down, and a line for people.
    fn note(&mut self, fact: HarnessFact) -> Result<(), FolderError> {
        let line = line_of(&fact);
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

    /// Writes down what the run came to, once nothing of it is left.
    pub(super) async fn end(
        mut self,
        mut outcome: RunOutcome,
    ) -> Result<ServeOutcome, FolderError> {
        // Who was cancelled does not know why; who asked for it does.
        if let (RunEnding::Cancelled { reason }, Some(asked)) = (&mut outcome.ending, &self.stop) {
            asked.clone_into(reason);
        }
        // Who cannot say what it spent has not spent less than it told.
        if outcome.spent == Spent::default() && self.state.at.spent != Spent::default() {
            outcome.spent = self.spent_and_more();
        }
        self.sweep().await;
        let now = self.clock.now();
        // Before the end is told: whoever leads a fleet may be gone a moment later.
        self.name_what_was_not_told().await;
        let ending = outcome.ending.clone();
        self.log.line(now, &line_of(&HarnessFact::Ended { ending }));
        // Before the journal: it is what counts, and without it all would be done again.
        let outcome = self.folder.settle(&outcome)?;
        let ending = outcome.ending.clone();
        if let Err(error) = self.journal.write(now, HarnessFact::Ended { ending }) {
            tracing::error!(%error, "the journal of a sub-harness does not say that it ended");
        }
        self.name_what_was_not_told().await;
        self.state.status = status_of(&outcome);
        self.let_go();
        Ok(ServeOutcome::Ended(outcome.into()))
    }

    /// Writes down that the run was cancelled, and did not say what it had spent at the end.
    pub(super) async fn give_up(mut self) -> Result<ServeOutcome, FolderError> {
        let now = self.clock.now();
        self.log.line(
            now,
            "warning: it was asked to end, did not, and was given up",
        );
        let spent = self.spent_and_more();
        self.end(RunOutcome::cancelled("").with_spent(spent)).await
    }

    /// Leaves the run as one that has not ended.
    pub(super) async fn break_off(mut self) -> Result<ServeOutcome, FolderError> {
        self.sweep().await;
        self.note(HarnessFact::BrokenOff)?;
        self.state.status = HarnessStatus::Pending;
        self.let_go();
        Ok(ServeOutcome::BrokenOff)
    }

    fn let_go(&mut self) {
        self.state.process = None;
        self.is_dirty = true;
        // The outcome is what counts, and a process that is gone is known to be.
        if let Err(error) = self.write_state() {
            tracing::warn!(%error, "the last status of a sub-harness cannot be written");
        }
    }

    /// Ends what the run has left: all that has the marker, this process left out.
    pub(super) async fn sweep(&mut self) {
        let marker = self.marker.clone();
        let swept = tokio::task::spawn_blocking(move || marker.kill_all(SWEEP)).await;
        let swept = swept.unwrap_or_default();
        let now = self.clock.now();
        if !swept.killed.is_empty() {
            let killed = swept.killed.len();
            self.log
                .line(now, &format!("{killed} processes were left and killed"));
        }
        if !swept.left.is_empty() {
            let left = swept.left.len();
            self.log
                .line(now, &format!("error: {left} processes cannot be ended"));
        }
    }

    /// Says which instructions came too late for any agent, each once.
    async fn name_what_was_not_told(&mut self) {
        let now = self.clock.now();
        if let Err(error) = self.adopt_texts(Duration::ZERO) {
            tracing::warn!(%error, "text files in an inbox cannot be read");
        }
        let waiting = self.folder.inbox().unwrap_or_default();
        for PostedInstruction { number, .. } in waiting.instructions {
            if !self.journal.was_told(number) && self.too_late.insert(number) {
                let said = too_late::tell(&self.folder, number, now).await;
                self.log.line(now, &format!("warning: {said}"));
            }
        }
    }
}

/// Says a fact for people.
fn line_of(fact: &HarnessFact) -> String {
    match fact {
        HarnessFact::InstructionGiven { number, .. } => {
            format!("instruction {number} waits for a turn of the agent")
        }
        HarnessFact::InstructionTold { number } => format!("instruction {number} given"),
        HarnessFact::InstructionUnreadable { name, what } => {
            format!("warning: {name} in the inbox is no instruction: {what}")
        }
        HarnessFact::PauseAsked => "pause asked for".to_owned(),
        HarnessFact::ResumeAsked => "resume asked for".to_owned(),
        HarnessFact::StopAsked { reason } => format!("stop asked for: {reason}"),
        HarnessFact::BrokenOff => "left for later".to_owned(),
        HarnessFact::Ended { ending } => match ending {
            RunEnding::Succeeded => "completed".to_owned(),
            RunEnding::Failed { failure } => format!("failed: {}", failure.message),
            RunEnding::Cancelled { reason } => format!("stopped: {reason}"),
        },
        HarnessFact::Serving { .. } => String::new(),
    }
}
