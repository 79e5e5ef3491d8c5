//! [`LiveRun`], which follows the newest run of a project by its files.

use std::collections::VecDeque;
use std::fs;
use std::time::{Duration, Instant, SystemTime};

use autonoe_app::LiveStatus;
use autonoe_app::text::EntryFormatter;
use autonoe_core::event::WaitReason;
use autonoe_core::project::{
    IdleReason, JournalEntry, JournalTail, OperatorRequest, PendingRequest, RequestFolder,
    RunHistory, RunLock, RunLockHeld, RunStopReason, RunTimelineBuilder,
};
use autonoe_core::time::format_time;
use autonoe_core::{Project, RunId};
use autonoe_dashboard::{RunPage, RunPageAction, RunPagePhase};
use jiff::Timestamp;

use crate::error::{CliError, OrFailure};
use crate::report::{Facts, SpentBudget, live_document, project_name};

/// Maximum number of lines of the log on the page.
const MAX_LOG_LINES: usize = 300;

/// Interval in which the figures grow while a session runs.
const REFRESH: Duration = Duration::from_secs(5);

/// Interval in which the processes that hold the lock are searched for. It takes longer than the
/// rest, and only shows that a run was killed and has left agents behind.
const HOLDER_INTERVAL: Duration = Duration::from_secs(1);

/// Follows the newest run of a project by its journal, lock, ledger and live status.
pub(super) struct LiveRun {
    project: Project,
    requests: RequestFolder,
    tail: Option<JournalTail>,
    run: Option<FollowedRun>,
    held: Option<RunLockHeld>,
    held_at: Instant,
    /// Modification time and length of the ledger when the document was built.
    ledger: Option<(SystemTime, u64)>,
    view: RunPage,
    is_stale: bool,
    built_at: Timestamp,
}

/// State of one run, from its journal.
struct FollowedRun {
    id: RunId,
    timeline: RunTimelineBuilder,
    history: RunHistory,
    formatter: EntryFormatter,
    log: VecDeque<String>,
    last_entry_at: Timestamp,
}

impl LiveRun {
    pub(super) fn new(project: Project) -> Self {
        Self {
            requests: RequestFolder::new(&project),
            view: RunPage::new(project_name(&project)),
            project,
            tail: None,
            run: None,
            held: None,
            held_at: Instant::now(),
            ledger: None,
            is_stale: true,
            built_at: Timestamp::UNIX_EPOCH,
        }
    }

    /// Reads what changed, and returns the current view. If a file cannot be read, the view keeps
    /// the last state and has a note.
    pub(super) fn poll(&mut self, now: Timestamp) -> RunPage {
        match self.update(now) {
            Ok(()) => {}
            Err(error) => {
                // The next call starts with a new reader.
                self.tail = None;
                self.view.note = Some(format!("The run cannot be read: {error}"));
            }
        }
        self.view.clone()
    }

    fn update(&mut self, now: Timestamp) -> Result<(), CliError> {
        // Before the journal, so that the last entries of a run that has just ended are read.
        self.read_lock()?;
        self.read_journal()?;
        let ledger = fs::metadata(self.project.status_path())
            .ok()
            .and_then(|found| Some((found.modified().ok()?, found.len())));
        if ledger != self.ledger {
            self.ledger = ledger;
            self.is_stale = true;
        }
        let pid = self.own_process();
        let live = pid.and_then(|pid| LiveStatus::read(&self.project, pid));
        let pending = self.requests.pending().or_failure()?;
        let Some(run) = &self.run else {
            self.view = RunPage {
                version: self.view.version,
                note: Some(match pid {
                    Some(_) => "A run is starting.".to_owned(),
                    None => "There is no run yet. Start one with `autonoe run`.".to_owned(),
                }),
                ..RunPage::new(project_name(&self.project))
            };
            return Ok(());
        };
        let stop_reason = run.history.stop_reason();
        let has_ended = matches!(
            stop_reason,
            RunStopReason::Ended(_) | RunStopReason::FlowEnded(_)
        );
        let is_running = pid.is_some() && !has_ended && run.is_lock_holder(self.held.as_ref());
        let is_paused = is_running && run.is_paused(live.as_ref());
        let phase = phase(
            &stop_reason,
            is_running,
            is_paused,
            self.held.as_ref(),
            &pending,
        );
        self.view.title = project_name(&self.project);
        self.view.run = Some(run.id.to_string());
        self.view.note = note(&stop_reason, phase, self.held.as_ref());
        self.view.actions = actions(phase);
        self.view.now = live.filter(|_| is_running).map_or_else(Vec::new, activity);
        if self.view.phase != phase {
            self.view.phase = phase;
            self.is_stale = true;
        }
        let age = now.duration_since(self.built_at);
        let is_growing = is_running && Duration::try_from(age).is_ok_and(|age| age >= REFRESH);
        if self.is_stale || is_growing {
            self.view.document = self.document(now, &stop_reason, is_running);
            self.view.version += 1;
            self.built_at = now;
            self.is_stale = false;
        }
        Ok(())
    }

    fn document(
        &self,
        now: Timestamp,
        stop_reason: &RunStopReason,
        is_running: bool,
    ) -> std::sync::Arc<str> {
        let Some(run) = &self.run else {
            return self.view.document.clone();
        };
        let mut timeline = run.timeline.timeline().clone();
        if is_running {
            timeline.until = timeline.until.max(now);
        }
        let limits = run.history.limits().map(|limits| limits.budget);
        let usage = run.history.budget_usage(timeline.until);
        let budget = limits
            .zip(usage)
            .map(|(limits, usage)| SpentBudget { limits, usage });
        let facts = Facts::live(&self.project, timeline, stop_reason, is_running);
        live_document(&facts, budget.as_ref(), run.log.iter()).into()
    }

    /// Returns the process of the run that holds the lock, unless only its agents are left.
    fn own_process(&self) -> Option<u32> {
        let held = self.held.as_ref()?;
        let holder = held.holder.as_ref()?;
        held.survivors().is_empty().then_some(holder.pid)
    }

    /// Reads the holder of the lock.
    fn read_lock(&mut self) -> Result<(), CliError> {
        let is_held = RunLock::is_held(&self.project)?;
        if is_held == self.held.is_some() && self.held_at.elapsed() < HOLDER_INTERVAL {
            return Ok(());
        }
        let held = RunLock::held(&self.project)?;
        if held != self.held {
            self.is_stale = true;
        }
        self.held = held;
        self.held_at = Instant::now();
        Ok(())
    }

    fn read_journal(&mut self) -> Result<(), CliError> {
        if self.tail.is_none() {
            self.tail = Some(JournalTail::from_last_run(&self.project.journal_path())?);
            self.run = None;
        }
        let Some(tail) = &mut self.tail else {
            return Ok(());
        };
        for entry in tail.read_new()? {
            let run = match self.run.take() {
                Some(run) if run.id == entry.run => self.run.insert(run),
                _ => self.run.insert(FollowedRun::new(&entry, &self.project)),
            };
            run.add(&entry);
            self.is_stale = true;
        }
        Ok(())
    }
}

impl FollowedRun {
    fn new(first: &JournalEntry, project: &Project) -> Self {
        Self {
            id: first.run.clone(),
            timeline: RunTimelineBuilder::new(first),
            history: RunHistory::new(first.run.clone()),
            formatter: EntryFormatter::new(project),
            log: VecDeque::new(),
            last_entry_at: first.at,
        }
    }

    fn add(&mut self, entry: &JournalEntry) {
        self.timeline.add(entry);
        self.history.add(entry);
        self.last_entry_at = entry.at;
        let mut text = String::new();
        self.formatter.format(entry, &mut text);
        self.log.extend(text.lines().map(str::to_owned));
        let excess = self.log.len().saturating_sub(MAX_LOG_LINES);
        self.log.drain(..excess);
    }

    /// Returns whether the holder of the lock has written an entry of this run. Another command,
    /// such as `autonoe ask`, can hold the lock while the run is interrupted.
    fn is_lock_holder(&self, held: Option<&RunLockHeld>) -> bool {
        let holder = held.and_then(|held| held.holder.as_ref());
        holder.is_some_and(|holder| self.last_entry_at >= holder.started_at)
    }

    /// Returns whether the run starts no session until it is resumed.
    fn is_paused(&self, live: Option<&LiveStatus>) -> bool {
        match live {
            Some(live) => live.is_paused,
            None => {
                let last = self.timeline.timeline().idle.last();
                last.is_some_and(|idle| idle.reason == IdleReason::Paused && idle.until.is_none())
            }
        }
    }
}

fn phase(
    stop_reason: &RunStopReason,
    is_running: bool,
    is_paused: bool,
    held: Option<&RunLockHeld>,
    pending: &[PendingRequest],
) -> RunPagePhase {
    let holder = held.and_then(|held| held.holder.as_ref());
    let is_pending = |request_kind: &OperatorRequest| {
        pending
            .iter()
            .any(|request| Some(&request.to) == holder && request.request == *request_kind)
    };
    match stop_reason {
        RunStopReason::Ended(report) if report.exit.is_success() => RunPagePhase::Done,
        RunStopReason::FlowEnded(report) if report.exit.is_success() => RunPagePhase::Done,
        RunStopReason::Ended(_) | RunStopReason::FlowEnded(_) => RunPagePhase::Stopped,
        _ if !is_running => RunPagePhase::Interrupted,
        _ if is_pending(&OperatorRequest::Stop) => RunPagePhase::Stopping,
        _ if is_paused => RunPagePhase::Paused,
        _ if is_pending(&OperatorRequest::Pause) => RunPagePhase::Pausing,
        _ => RunPagePhase::Running,
    }
}

fn actions(phase: RunPagePhase) -> Vec<RunPageAction> {
    match phase {
        RunPagePhase::Running => vec![
            RunPageAction::Pause,
            RunPageAction::Instruct,
            RunPageAction::Stop,
        ],
        RunPagePhase::Pausing | RunPagePhase::Paused => {
            vec![
                RunPageAction::Resume,
                RunPageAction::Instruct,
                RunPageAction::Stop,
            ]
        }
        RunPagePhase::Waiting
        | RunPagePhase::Stopping
        | RunPagePhase::Done
        | RunPagePhase::Stopped
        | RunPagePhase::Interrupted => Vec::new(),
    }
}

fn note(
    stop_reason: &RunStopReason,
    phase: RunPagePhase,
    held: Option<&RunLockHeld>,
) -> Option<String> {
    match phase {
        RunPagePhase::Pausing => Some("The run pauses when its session ends.".to_owned()),
        RunPagePhase::Paused => Some("No session starts until you resume the run.".to_owned()),
        RunPagePhase::Stopping => Some("The run is being stopped.".to_owned()),
        RunPagePhase::Interrupted => Some(match held {
            Some(held) => held.to_string(),
            None => {
                format!("The run did not finish: {stop_reason}. Run the same command to resume it.")
            }
        }),
        RunPagePhase::Waiting
        | RunPagePhase::Running
        | RunPagePhase::Done
        | RunPagePhase::Stopped => None,
    }
}

/// Returns the lines about the current activity.
fn activity(live: LiveStatus) -> Vec<(String, String)> {
    let mut lines = Vec::new();
    let mut line = |name: &str, text: String| lines.push((name.to_owned(), text));
    if let Some(number) = live.session {
        let instruction = live.instruction.unwrap_or_default();
        let model = live
            .model
            .map_or_else(String::new, |model| format!(", {model}"));
        line("Session", format!("{number}, {instruction}{model}"));
    }
    if let Some(wait) = live.wait {
        let wait_end = match wait.reason {
            WaitReason::Pause => "the next session",
            WaitReason::Quota | WaitReason::QuotaBackoff => "the quota",
            WaitReason::RetryAfter => "the service",
        };
        line(
            "Waits for",
            format!("{wait_end}, until {}", format_time(wait.until)),
        );
    }
    if let Some(activity) = live.activity {
        line("Now", activity);
    }
    if let Some(target) = live.target {
        line("Target", target);
    }
    if !live.text.trim().is_empty() {
        line("Says", live.text.trim().to_owned());
    }
    lines
}
