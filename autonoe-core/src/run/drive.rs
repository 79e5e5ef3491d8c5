//! Carries out what the run machine asks for.

use std::sync::Arc;
use std::time::Duration;

use futures::{FutureExt, future};
use jiff::Timestamp;

use super::prepare::{Ground, caught};
use super::runner::{SessionRunner, Work};
use super::setting::Setting;
use super::task::{Extras, Stand, Task};
use super::{
    Durability, GivenLimits, JournalLine, RecordedRun, RunAction, RunControl, RunFact, RunLimits,
    RunMachine, SessionPlan,
};
use crate::domain::quota::between;
use crate::domain::{
    ExitReason, Failure, InstructionName, LedgerView, RunId, RunReport, SessionResult,
};
use crate::port::{InstructionSource, RunEventKind};

/// How long a run or a flow that was cancelled waits for the ledger.
pub(super) const LAST_LOOK: Duration = Duration::from_secs(2);

const LEDGER_GONE: &str =
    "the ledger was removed while the run was under way; put it back and start again";

/// One run under way.
pub(super) struct Drive {
    pub(super) setting: Setting,
    pub(super) work: Work,
    pub(super) machine: RunMachine,
    beginning: Beginning,
}

/// How a run comes to begin here.
enum Beginning {
    New,
    /// It was interrupted; these limits are given now.
    Resumed {
        given: GivenLimits,
    },
}

impl Drive {
    pub(super) fn new(runner: &SessionRunner, control: &RunControl) -> Self {
        let run = runner.parts.ids.run_id();
        let machine = RunMachine::new(runner.parts.limits.clone());
        Self::of(runner, control, run, machine, Beginning::New)
    }

    pub(super) fn resuming(
        runner: &SessionRunner,
        control: &RunControl,
        recorded: RecordedRun,
    ) -> Self {
        let RecordedRun {
            run,
            machine,
            given,
        } = recorded;
        Self::of(runner, control, run, machine, Beginning::Resumed { given })
    }

    fn of(
        runner: &SessionRunner,
        control: &RunControl,
        run: RunId,
        machine: RunMachine,
        beginning: Beginning,
    ) -> Self {
        Self {
            setting: Setting::new(runner.parts.clone(), control.clone(), run),
            work: runner.work.clone(),
            machine,
            beginning,
        }
    }

    /// Runs to the end and reports.
    pub(super) async fn run(mut self) -> RunReport {
        let mode = self.machine.limits().mode;
        tracing::info!(run = %self.setting.run, %mode, "run started");
        self.setting.events.emit(RunEventKind::RunStarted {
            run: &self.setting.run,
            mode,
        });
        let started = self.now();
        let prepared = self.prepare().await;
        let could_begin = prepared.is_ok();
        let exit = match prepared {
            Ok((ground, ledger)) => {
                let first = self.begin(&ground, started, ledger).await;
                self.carry_out(&ground, first).await
            }
            Err(exit) => exit,
        };
        tracing::info!(run = %self.setting.run, exit = exit.code(), "run ended");
        if let ExitReason::BudgetExceeded { budget } = exit {
            self.setting
                .events
                .emit(RunEventKind::BudgetSpent { budget });
        }
        let mut report = self.machine.report(&self.setting.run, exit, self.now());
        // The machine does not know of a run that could not start.
        report.elapsed = report.elapsed.max(between(started, self.now()));
        if could_begin {
            self.write_down_the_end(&report);
        }
        self.setting
            .events
            .emit(RunEventKind::RunEnded { report: &report });
        report
    }

    /// Not for a run that could not begin, or go on: nothing of it was written down, and it can be
    /// tried again later.
    fn write_down_the_end(&self, report: &RunReport) {
        let ended = JournalLine::RunEnded {
            report: report.clone(),
        };
        if let Err(error) = self.setting.write_down(&ended, Durability::Synced) {
            self.setting.warn(&format!(
                "the end of the run is not in the journal: {}",
                Failure::from(&error)
            ));
        }
    }

    /// Tells the machine that the run begins, or goes on.
    async fn begin(
        &mut self,
        ground: &Ground,
        started: Timestamp,
        ledger: LedgerView,
    ) -> RunAction {
        let epoch = ground.book.epoch();
        let limits = self.machine.limits().clone();
        let line = match self.beginning {
            Beginning::New => JournalLine::RunStarted { limits, epoch },
            Beginning::Resumed { .. } => JournalLine::RunResumed { epoch },
        };
        let written = self.setting.write_down(&line, Durability::Synced);
        let Ground {
            book,
            ledger_history,
            ..
        } = ground;
        let recorded = match written {
            Ok(()) => {
                let history = ledger_history.as_ref();
                self.setting.record_found_ledger(book, history).await
            }
            failed => failed,
        };
        if let Err(error) = recorded {
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
            // It has not begun: it is new, or was interrupted before its first decision.
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
        match self.setting.write_down(&line, durability) {
            Ok(()) => action,
            Err(error) => {
                let error = Failure::from(&error);
                self.machine.apply(RunFact::Failed { error })
            }
        }
    }

    async fn carry_out(&mut self, ground: &Ground, mut action: RunAction) -> ExitReason {
        loop {
            action = match action {
                RunAction::Finish { exit } => return exit,
                RunAction::StartSession(plan) => self.session(ground, plan).await,
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

    async fn session(&mut self, ground: &Ground, mut plan: SessionPlan) -> RunAction {
        let setting = self.setting.clone();
        let instructions = self.work.instructions.clone();
        let selection = self.select_instruction(&plan).await;
        if let Ok(selected) = &selection
            && *selected != plan.instruction
        {
            let fact = RunFact::InstructionSelected {
                number: plan.number,
                instruction: selected.clone(),
            };
            if let end @ RunAction::Finish { .. } = self.apply(fact) {
                return end;
            }
            plan.instruction = selected.clone();
        }
        // A failed selection fails the session, so that observers receive its start and its end.
        let prompt = match selection {
            Ok(_) => text_of(instructions, &plan.instruction).boxed(),
            Err(error) => future::ready(Err(error)).boxed(),
        };
        let task = Task {
            number: plan.number,
            instruction: &plan.instruction,
            prompt,
            messages: &plan.messages,
            ledger_tools: Some(&plan.instruction),
            budget: plan.budget,
            deadline: plan.deadline,
            extras: &Extras::default(),
        };
        let stand = Stand {
            capabilities: &ground.capabilities,
            book: Some(&ground.book),
        };
        let ended = setting.session(stand, task, self, &mut |_| {}).await;
        let ledger = self.look_at_ledger(ground).await;
        let flaw = self.machine.flaw(plan.number, &ended.result, &ledger);
        let result = ended.emit(flaw);
        self.session_over(plan.number, result, ledger)
    }

    /// Asks the selector for the instruction of a session. Returns the planned one if the run is
    /// cancelled or out of time meanwhile: such a session ends before its agent starts.
    async fn select_instruction(&self, plan: &SessionPlan) -> Result<InstructionName, Failure> {
        let context = self.machine.selection_context(plan.number);
        let selection = async {
            let selected = self.work.instruction_selector.select(&context).await;
            selected.map_err(|error| Failure::from(&error))
        };
        tokio::select! {
            biased;
            () = self.setting.control.cancelled() => Ok(plan.instruction.clone()),
            () = self.setting.time_is_up(plan.budget_at(self.now()).time) => {
                Ok(plan.instruction.clone())
            }
            selected = caught(selection) => selected,
        }
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
        self.setting.control.cancelled().await;
        self.setting.parts.clock.sleep(LAST_LOOK).await;
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

    /// Returns whether this is a resumed run.
    pub(super) fn goes_on(&self) -> bool {
        matches!(self.beginning, Beginning::Resumed { .. })
    }

    pub(super) fn now(&self) -> Timestamp {
        self.setting.now()
    }
}

/// Returns the text of an instruction.
async fn text_of(
    instructions: Arc<dyn InstructionSource>,
    name: &InstructionName,
) -> Result<String, Failure> {
    let text = instructions.resolve(name).await;
    text.map_err(|error| Failure::from(&error))
}
