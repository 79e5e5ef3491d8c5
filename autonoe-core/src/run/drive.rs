//! Carries out what the run machine asks for.

use std::panic::AssertUnwindSafe;
use std::sync::Arc;
use std::time::Duration;

use futures::{FutureExt, future};
use jiff::Timestamp;

use super::control::Command;
use super::preflight::{Demands, refuse};
use super::runner::Parts;
use super::takeover::take_over;
use super::{RunAction, RunControl, RunFact, RunMachine, SessionPlan};
use crate::domain::quota::between;
use crate::domain::{BudgetKind, ExitReason, Failure, LedgerView, RunId, RunReport, SessionResult};
use crate::port::{Capabilities, Delivery, Events, RunEventKind, WaitReason};
use crate::tools::LedgerBook;

/// How often observers are told how long a wait for quota still takes.
const TICK: Duration = Duration::from_secs(1);

/// One run under way.
pub(super) struct Drive {
    pub(super) parts: Arc<Parts>,
    pub(super) control: RunControl,
    pub(super) run: RunId,
    events: Events,
    machine: RunMachine,
}

/// What is known once the backend was looked at and the ledger taken over.
pub(super) struct Ground {
    pub(super) capabilities: Capabilities,
    pub(super) book: LedgerBook,
}

impl Drive {
    pub(super) fn new(parts: Arc<Parts>, control: RunControl) -> Self {
        let run = parts.ids.run_id();
        let events = Events::new(
            parts.observers.clone(),
            parts.clock.clone(),
            parts.ids.clone(),
        );
        let machine = RunMachine::new(parts.limits.clone());
        Self {
            parts,
            control,
            run,
            events,
            machine,
        }
    }

    /// Runs to the end and reports.
    pub(super) async fn run(mut self) -> RunReport {
        let mode = self.parts.limits.mode;
        tracing::info!(run = %self.run, %mode, "run started");
        self.events.emit(RunEventKind::RunStarted {
            run: &self.run,
            mode,
        });
        let started = self.now();
        let exit = match self.prepare().await {
            Ok((ground, ledger)) => {
                self.catch_up();
                let at = started;
                let first = self.machine.apply(RunFact::Started { at, ledger });
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
        report.elapsed = between(started, self.now());
        self.events.emit(RunEventKind::RunEnded { report: &report });
        report
    }

    /// Looks at the backend and takes over the ledger; or says why the run cannot start.
    async fn prepare(&self) -> Result<(Ground, LedgerView), ExitReason> {
        let parts = &self.parts;
        let demands = Demands {
            sandbox: parts.sandbox,
            has_outer_sandbox: parts.outer_sandbox.is_some(),
            has_tool_server: parts.tool_server.is_some(),
            limits_money: parts.limits.budget.cost_usd.is_some(),
        };
        let look = async {
            let capabilities = parts
                .agents
                .probe()
                .await
                .map_err(|error| Failure::from(&error))?;
            if let Some(refusal) = refuse(&capabilities, demands) {
                return Err(refusal);
            }
            let (book, ledger) =
                take_over(&parts.repository, &parts.clock, parts.limits.mode).await?;
            Ok((Ground { capabilities, book }, ledger))
        };
        let time_is_up = async {
            match parts.limits.budget.time {
                Some(time) => parts.clock.sleep(time).await,
                None => future::pending().await,
            }
        };
        tokio::select! {
            biased;
            () = self.control.cancelled() => Err(ExitReason::Interrupted),
            found = caught(look) => found.map_err(|error| ExitReason::Failed { error }),
            () = time_is_up => Err(ExitReason::BudgetExceeded { budget: BudgetKind::Time }),
        }
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
                    self.machine.apply(RunFact::Failed { error })
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

    /// Returns the numbers of the ledger now; those that are known when the run was cancelled.
    async fn look_at_ledger(&self, ground: &Ground) -> Result<LedgerView, Failure> {
        let read = async {
            let state = ground.book.read().await;
            let state = state.map_err(|error| Failure::from(&error))?;
            Ok(state.map(|state| state.view()).unwrap_or_default())
        };
        tokio::select! {
            biased;
            ledger = caught(read) => ledger,
            () = self.control.cancelled() => Ok(self.machine.ledger()),
        }
    }

    fn session_over(
        &mut self,
        number: u32,
        result: SessionResult,
        ledger: Result<LedgerView, Failure>,
    ) -> RunAction {
        self.catch_up();
        let at = self.now();
        self.machine.apply(RunFact::SessionEnded {
            at,
            number,
            result,
            ledger,
        })
    }

    async fn wait(&mut self, ground: &Ground, reason: WaitReason, until: Timestamp) -> RunAction {
        self.events
            .emit(RunEventKind::WaitStarted { reason, until });
        let ticks = matches!(reason, WaitReason::Quota | WaitReason::QuotaBackoff);
        let action = loop {
            let remaining = between(self.now(), until);
            if remaining.is_zero() {
                let ledger = self.look_at_ledger(ground).await;
                self.catch_up();
                let at = self.now();
                break self.machine.apply(RunFact::WaitOver { at, ledger });
            }
            if ticks {
                self.events.emit(RunEventKind::WaitTick {
                    reason,
                    until,
                    remaining,
                });
            }
            // The wall clock is read again after each nap: who slept through
            // the wait does not wait twice.
            let nap = self.parts.clock.sleep(remaining.min(TICK));
            let control = self.control.clone();
            tokio::select! {
                biased;
                () = control.cancelled() => break self.machine.apply(RunFact::Cancelled),
                () = self.serve_commands() => {}
                () = nap => {}
            }
        };
        self.events.emit(RunEventKind::WaitEnded { reason });
        action
    }

    /// Takes commands as they come, without an end.
    async fn serve_commands(&mut self) {
        loop {
            let command = self.control.next_command().await;
            // While waiting, no command asks for anything but to go on waiting.
            let _ = self.take(command);
        }
    }

    async fn hold(&mut self, ground: &Ground) -> RunAction {
        self.events.emit(RunEventKind::Paused);
        let control = self.control.clone();
        loop {
            let command = tokio::select! {
                biased;
                () = control.cancelled() => return self.machine.apply(RunFact::Cancelled),
                command = control.next_command() => command,
            };
            if command == Command::Resume {
                self.events.emit(RunEventKind::Resumed);
                let ledger = self.look_at_ledger(ground).await;
                self.catch_up();
                let at = self.now();
                return self.machine.apply(RunFact::ResumeRequested { at, ledger });
            }
            let _ = self.take(command);
        }
    }

    /// Tells the machine what persons have asked for since it was last told.
    fn catch_up(&mut self) {
        while let Some(command) = self.control.waiting_command() {
            let _ = self.take(command);
        }
        if self.control.is_cancelled() {
            let _ = self.machine.apply(RunFact::Cancelled);
        }
    }

    pub(super) fn take(&mut self, command: Command) -> RunAction {
        let fact = match command {
            Command::Pause => RunFact::PauseRequested,
            // Only a hold waits for this, and it looks at the ledger itself.
            Command::Resume => RunFact::ResumeRequested {
                at: self.now(),
                ledger: Ok(self.machine.ledger()),
            },
            Command::Instruct(text) => {
                let delivery = Delivery::Queued;
                self.events.emit(RunEventKind::Instructed {
                    text: &text,
                    delivery,
                });
                RunFact::Instructed { text }
            }
        };
        self.machine.apply(fact)
    }

    /// Takes notice of a message that the running session took, or did not.
    pub(super) fn steered(&mut self, text: String, delivered: bool) {
        if !delivered {
            let _ = self.take(Command::Instruct(text));
            return;
        }
        let delivery = Delivery::Steered;
        self.events.emit(RunEventKind::Instructed {
            text: &text,
            delivery,
        });
        let _ = self.machine.apply(RunFact::Steered { text });
    }

    fn now(&self) -> Timestamp {
        self.parts.clock.now()
    }
}

/// Turns a panic of a plugin into a failure.
pub(super) async fn caught<T>(
    work: impl Future<Output = Result<T, Failure>>,
) -> Result<T, Failure> {
    AssertUnwindSafe(work)
        .catch_unwind()
        .await
        .unwrap_or_else(|_panic| {
            Err(Failure::permanent(
                "plugin_panicked",
                "a part that was plugged into the run panicked",
            ))
        })
}
