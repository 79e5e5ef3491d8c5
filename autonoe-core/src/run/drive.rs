//! Carries out what the run machine asks for.

use std::sync::Arc;
use std::time::Duration;

use jiff::Timestamp;

use super::journal_observer::JournalObserver;
use super::prepare::{Ground, caught};
use super::runner::Parts;
use super::spans::RunSpans;
use super::{
    Durability, GivenLimits, JournalError, JournalLine, RecordedRun, RunAction, RunControl,
    RunFact, RunLimits, RunMachine, SessionPlan,
};
use crate::domain::quota::between;
use crate::domain::{ExitReason, Failure, LedgerView, RunId, RunReport, SessionResult};
use crate::port::{Events, RunEventKind};
use crate::tools::LostGround;

/// How long a run that was cancelled waits for the ledger.
const LAST_LOOK: Duration = Duration::from_secs(2);

const LEDGER_GONE: &str =
    "the ledger was removed while the run was under way; put it back and start again";

/// One run under way.
pub(super) struct Drive {
    pub(super) parts: Arc<Parts>,
    pub(super) control: RunControl,
    pub(super) run: RunId,
    pub(super) events: Events,
    pub(super) machine: RunMachine,
    /// The journal, when it takes no line any more.
    pub(super) lost_journal: LostGround,
    beginning: Beginning,
}

/// How a run comes to begin here.
enum Beginning {
    New,
    /// It broke off earlier; these limits are given now.
    Resumed {
        given: GivenLimits,
    },
}

impl Drive {
    pub(super) fn new(parts: Arc<Parts>, control: RunControl) -> Self {
        let run = parts.ids.run_id();
        let machine = RunMachine::new(parts.limits.clone());
        Self::of(parts, control, run, machine, Beginning::New)
    }

    pub(super) fn resuming(parts: Arc<Parts>, control: RunControl, recorded: RecordedRun) -> Self {
        let RecordedRun {
            run,
            machine,
            given,
        } = recorded;
        Self::of(parts, control, run, machine, Beginning::Resumed { given })
    }

    fn of(
        parts: Arc<Parts>,
        control: RunControl,
        run: RunId,
        machine: RunMachine,
        beginning: Beginning,
    ) -> Self {
        let mut observers = parts.observers.clone();
        let lost_journal = LostGround::default();
        observers.push(Arc::new(JournalObserver::new(
            parts.journal.clone(),
            run.clone(),
            lost_journal.clone(),
        )));
        observers.push(Arc::new(RunSpans::new(parts.trace_content)));
        let mut events = Events::new(observers, parts.clock.clone(), parts.ids.clone());
        if let Some(parent) = &parts.trace {
            events = events.in_trace(parent);
        }
        Self {
            parts,
            control,
            run,
            events,
            machine,
            lost_journal,
            beginning,
        }
    }

    /// Runs to the end and reports.
    pub(super) async fn run(mut self) -> RunReport {
        let mode = self.machine.limits().mode;
        tracing::info!(run = %self.run, %mode, "run started");
        self.events.emit(RunEventKind::RunStarted {
            run: &self.run,
            mode,
        });
        let started = self.now();
        let prepared = self.prepare().await;
        let could_begin = prepared.is_ok();
        let exit = match prepared {
            Ok((ground, ledger)) => {
                let first = self.begin(&ground, started, ledger);
                self.carry_out(&ground, first).await
            }
            Err(exit) => exit,
        };
        tracing::info!(run = %self.run, exit = exit.code(), "run ended");
        if let ExitReason::BudgetExceeded { budget } = exit {
            self.events.emit(RunEventKind::BudgetSpent { budget });
        }
        let mut report = self.machine.report(&self.run, exit, self.now());
        // The machine does not know of a run that could not start.
        report.elapsed = report.elapsed.max(between(started, self.now()));
        if could_begin {
            self.write_down_the_end(&report);
        }
        self.events.emit(RunEventKind::RunEnded { report: &report });
        report
    }

    /// Not for a run that could not begin, or go on: nothing of it was written down, and it can be
    /// tried again later.
    fn write_down_the_end(&self, report: &RunReport) {
        let ended = JournalLine::RunEnded {
            report: report.clone(),
        };
        if let Err(error) = self.write_down(&ended, Durability::Synced) {
            tracing::error!(%error, "the end of the run is not in the journal");
        }
    }

    /// Tells the machine that the run begins, or goes on.
    fn begin(&mut self, ground: &Ground, started: Timestamp, ledger: LedgerView) -> RunAction {
        let epoch = ground.book.epoch();
        let limits = self.machine.limits().clone();
        let line = match self.beginning {
            Beginning::New => JournalLine::RunStarted { limits, epoch },
            Beginning::Resumed { .. } => JournalLine::RunResumed { epoch },
        };
        if let Err(error) = self.write_down(&line, Durability::Synced) {
            let error = Failure::from(&error);
            return self.machine.apply(RunFact::Failed { error });
        }
        if let Beginning::Resumed { given } = &self.beginning
            && let Some(fact) = given.as_fact(self.machine.limits(), started, ledger)
            && let end @ RunAction::Finish { .. } = self.apply(fact)
        {
            return end;
        }
        if self.goes_on()
            && let Some(number) = self.machine.session_under_way()
        {
            return self.apply(RunFact::SessionLost { number });
        }
        match self.machine.action() {
            // It has not begun: it is new, or broke off before its first decision.
            RunAction::Continue => {
                self.catch_up();
                self.apply(RunFact::Started {
                    at: started,
                    ledger,
                })
            }
            under_way => under_way,
        }
    }

    /// Tells the machine a fact and writes both the fact and the decision down.
    pub(super) fn apply(&mut self, fact: RunFact) -> RunAction {
        let action = self.machine.apply(fact.clone());
        let decisive = matches!(fact, RunFact::SessionEnded { .. })
            || matches!(action, RunAction::Finish { .. });
        let durability = if decisive {
            Durability::Synced
        } else {
            Durability::Written
        };
        let line = JournalLine::Fact {
            fact,
            action: action.clone(),
        };
        match self.write_down(&line, durability) {
            Ok(()) => action,
            Err(error) => {
                let error = Failure::from(&error);
                self.machine.apply(RunFact::Failed { error })
            }
        }
    }

    fn write_down(&self, line: &JournalLine, durability: Durability) -> Result<(), JournalError> {
        let journal = &self.parts.journal;
        journal.append(&self.run, self.now(), line, durability)
    }

    async fn carry_out(&mut self, ground: &Ground, mut action: RunAction) -> ExitReason {
        loop {
            action = match action {
                RunAction::Finish { exit } => return exit,
                RunAction::StartSession(plan) => self.session(ground, &plan).await,
                RunAction::Wait { reason, until } => self.wait(ground, reason, until).await,
                RunAction::Hold => self.hold(ground).await,
                // Nothing is under way here that could go on or be stopped.
                RunAction::Continue | RunAction::StopSession => {
                    let error = Failure::permanent("internal", "the run came to a stand-still");
                    self.apply(RunFact::Failed { error })
                }
            };
        }
    }

    async fn session(&mut self, ground: &Ground, plan: &SessionPlan) -> RunAction {
        let events = self.events.child();
        tracing::info!(run = %self.run, session = plan.number, instruction = %plan.instruction,
            "session started");
        events.emit(RunEventKind::SessionStarted {
            number: plan.number,
            instruction: &plan.instruction,
            model: self.parts.models.for_phase(plan.instruction.phase()),
        });
        let result = self.perform(ground, plan, &events).await;
        tracing::info!(run = %self.run, session = plan.number, end = ?result.end, "session ended");
        events.emit(RunEventKind::SessionEnded {
            number: plan.number,
            result: &result,
        });
        let ledger = self.look_at_ledger(ground).await;
        self.session_over(plan.number, result, ledger)
    }

    /// Returns the numbers of the ledger now; those that are known when the run was cancelled and
    /// the ledger does not answer soon.
    pub(super) async fn look_at_ledger(&self, ground: &Ground) -> Result<LedgerView, Failure> {
        let read = async {
            let state = ground.book.read().await;
            let state = state.map_err(|error| Failure::from(&error))?;
            // A run begins with a ledger, if an empty one. To go on without would be to begin anew.
            let gone = || Failure::permanent("ledger_gone", LEDGER_GONE);
            state.map(|state| state.view()).ok_or_else(gone)
        };
        tokio::select! {
            biased;
            ledger = caught(read) => ledger,
            () = self.tired_of_waiting() => Ok(self.machine.ledger()),
        }
    }

    /// Returns some time after the run was cancelled: what its last session marked should count.
    async fn tired_of_waiting(&self) {
        self.control.cancelled().await;
        self.parts.clock.sleep(LAST_LOOK).await;
    }

    fn session_over(
        &mut self,
        number: u32,
        result: SessionResult,
        ledger: Result<LedgerView, Failure>,
    ) -> RunAction {
        self.catch_up();
        let at = self.now();
        self.apply(RunFact::SessionEnded {
            at,
            number,
            result,
            ledger,
        })
    }

    /// Returns the limits that the run keeps to from now on.
    pub(super) fn limits(&self) -> RunLimits {
        let limits = self.machine.limits();
        match &self.beginning {
            Beginning::New => limits.clone(),
            Beginning::Resumed { given } => given.over(limits),
        }
    }

    /// Tells whether this is a run that had broken off.
    pub(super) fn goes_on(&self) -> bool {
        matches!(self.beginning, Beginning::Resumed { .. })
    }

    pub(super) fn now(&self) -> Timestamp {
        self.parts.clock.now()
    }
}
