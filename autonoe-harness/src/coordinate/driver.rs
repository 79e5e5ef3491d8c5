//! Runs a fleet: performs the steps of its state machine on an engine.

use std::sync::Arc;
use std::time::Duration;

use autonoe_core::engine::{
    Engine, EngineError, Placement, RunInstruction, RunOutcome, RunSpec, RunView,
};
use autonoe_core::event::InvalidValue;
use autonoe_core::run::RunRequest;
use autonoe_core::time::Clock;
use autonoe_core::{RunControl, RunId};
use futures::future::BoxFuture;
use futures::stream::FuturesUnordered;
use futures::{FutureExt, StreamExt};
use jiff::Timestamp;

use super::event::notify;
use super::{CoordinationError, Coordinator, FleetMachine, FleetReport, FleetStep};
use crate::strategy::MemberId;

/// Delay before a failed engine call is retried.
const RETRY_DELAY: Duration = Duration::from_secs(1);

/// Maximum number of attempts of an engine call.
const TRIES: usize = 3;

/// Time limit of an engine call.
const ANSWER_TIMEOUT: Duration = Duration::from_secs(60);

/// Outcome of a member's run, or an error if the engine no longer knows the run.
type End = (MemberId, Result<RunOutcome, EngineError>);

/// Drives the state machine of a fleet on an engine.
struct Driver<'c> {
    plan: &'c Coordinator,
    machine: FleetMachine,
    /// Outcomes of the running members.
    ends: FuturesUnordered<BoxFuture<'static, End>>,
}

impl<'c> Driver<'c> {
    fn new(plan: &'c Coordinator, machine: FleetMachine) -> Self {
        Self {
            plan,
            machine,
            ends: FuturesUnordered::new(),
        }
    }

    /// Runs the fleet until it finishes.
    async fn run(mut self, control: &RunControl) -> Result<FleetReport, CoordinationError> {
        self.emit();
        self.find_runs().await?;
        loop {
            while let Some(request) = control.try_next_request() {
                self.handle(request).await;
            }
            let step = self.machine.next(self.now());
            self.emit();
            match step {
                FleetStep::Start {
                    member,
                    run,
                    placement,
                } => self.start(member, run, placement).await,
                FleetStep::Stop {
                    member,
                    run,
                    reason,
                } => self.stop(&member, &run, &reason).await,
                FleetStep::Wait { until } => self.wait(control, until).await,
                FleetStep::Finish(report) => return Ok(*report),
            }
        }
    }

    /// Finds the runs that an earlier coordinator of the fleet started.
    async fn find_runs(&mut self) -> Result<(), CoordinationError> {
        let members = self.machine.fleet().members().iter();
        let members: Vec<MemberId> = members.map(|member| member.id.clone()).collect();
        let (plan, mut found) = (self.plan, Vec::new());
        for member in members {
            let run = self.machine.run_id(&member);
            match plan.retry(|| plan.engine.status(&run)).await {
                Ok(view) => found.push((member, run, view)),
                Err(EngineError::Unknown(_)) => {}
                Err(source) => return Err(CoordinationError::Engine { run, source }),
            }
        }
        // Ended runs first: the budget that they returned may have paid for the others.
        let known = &plan.ended_before;
        found.sort_by_key(|(member, _, view): &(MemberId, RunId, RunView)| {
            let place = known.iter().position(|known| known == member);
            let place = place.filter(|_| view.outcome.is_some());
            (view.outcome.is_none(), place.unwrap_or(usize::MAX))
        });
        for (member, run, view) in found {
            self.machine.on_found(self.now(), &member, &view);
            self.emit();
            if view.outcome.is_none() {
                self.watch(member, run);
            }
        }
        Ok(())
    }

    async fn start(&mut self, member: MemberId, run: RunSpec, place: Placement) {
        let id = run.id.clone();
        let plan = self.plan;
        let submitted = plan.retry(|| plan.engine.submit(run.clone(), place.clone()));
        match submitted.await {
            Ok(_) => {
                let instructions = self.machine.on_started(self.now(), &member);
                self.watch(member, id.clone());
                for instruction in instructions {
                    self.plan.instruct(&id, instruction).await;
                }
            }
            Err(error) => {
                if error.is_unknown_result() {
                    // The submission may or may not have succeeded. If it did, the run is no longer
                    // wanted.
                    let cancelled = plan
                        .with_timeout(plan.engine.cancel(&id, "the coordinator gave it up"))
                        .await;
                    tracing::warn!(run = %id, ?cancelled, "no answer; the run may have started");
                }
                self.machine.on_not_started(self.now(), &member, &error);
            }
        }
        self.emit();
    }

    async fn stop(&mut self, member: &MemberId, run: &RunId, reason: &str) {
        let plan = self.plan;
        if let Err(error) = plan.retry(|| plan.engine.cancel(run, reason)).await {
            tracing::warn!(%run, %error, "cannot cancel a run");
        }
        self.machine.on_stopped(self.now(), member);
    }

    /// Waits for an event, and passes it to the machine.
    async fn wait(&mut self, control: &RunControl, until: Option<Timestamp>) {
        let clock = &self.plan.clock;
        let is_cut = self.machine.is_cut_short();
        tokio::select! {
            biased;
            () = control.cancelled(), if !is_cut => self.machine.cancel(clock.now()),
            ends = next_ends(&mut self.ends) => self.machine.on_ended(clock.now(), ends),
            request = control.next_request() => self.handle(request).await,
            () = sleep_to(&**clock, until) => {}
        }
        self.emit();
    }

    async fn handle(&mut self, request: RunRequest) {
        let (instruction, message) = match request {
            RunRequest::Pause => (RunInstruction::Pause, None),
            RunRequest::Resume => (RunInstruction::Resume, None),
            RunRequest::Instruct(message) => {
                let instruction = RunInstruction::Message(message.text().to_owned());
                (instruction, Some(message))
            }
        };
        let runs = self.machine.on_instruction(self.now(), &instruction);
        self.emit();
        for run in runs {
            self.plan.instruct(&run, instruction.clone()).await;
        }
        if let Some(message) = message {
            message.acknowledge();
        }
    }

    fn watch(&mut self, member: MemberId, run: RunId) {
        let (engine, clock) = (self.plan.engine.clone(), self.plan.clock.clone());
        self.ends.push(end_of(engine, clock, member, run).boxed());
    }

    fn now(&self) -> Timestamp {
        self.plan.clock.now()
    }

    /// Passes the events of the machine to the observers.
    fn emit(&mut self) {
        let events = self.machine.take_events();
        for event in &events {
            notify(&self.plan.observers, event);
        }
    }
}

impl Coordinator {
    async fn instruct(&self, run: &RunId, instruction: RunInstruction) {
        if let Err(error) = self.engine.instruct(run, instruction).await {
            // The run may just have ended.
            tracing::warn!(%run, %error, "cannot send an instruction to a run");
        }
    }

    /// Calls the engine, and retries on failure.
    async fn retry<T, F: Future<Output = Result<T, EngineError>>>(
        &self,
        call: impl Fn() -> F,
    ) -> Result<T, EngineError> {
        let mut tries = 1;
        loop {
            match self.with_timeout(call()).await {
                Err(EngineError::Failed { .. }) if tries < TRIES => {
                    tries += 1;
                    self.clock.sleep(RETRY_DELAY).await;
                }
                answer => return answer,
            }
        }
    }

    /// Limits the time of a call, because deadlines and cancellation of the fleet wait for it.
    async fn with_timeout<T>(
        &self,
        call: impl Future<Output = Result<T, EngineError>>,
    ) -> Result<T, EngineError> {
        tokio::select! {
            biased;
            answer = call => answer,
            () = self.clock.sleep(ANSWER_TIMEOUT) => Err(EngineError::Failed {
                reason: "the engine did not answer in time".to_owned(),
                source: None,
            }),
        }
    }
}

/// Returns all available outcomes, once there is one. Without a running member it waits for ever.
async fn next_ends(ends: &mut FuturesUnordered<BoxFuture<'static, End>>) -> Vec<End> {
    let Some(first) = ends.next().await else {
        return std::future::pending().await;
    };
    let mut found = vec![first];
    while let Some(Some(end)) = ends.next().now_or_never() {
        found.push(end);
    }
    found
}

/// Waits for the outcome of a run. A failing engine is asked again: a missing answer is not an end.
async fn end_of(
    engine: Arc<dyn Engine>,
    clock: Arc<dyn Clock>,
    member: MemberId,
    run: RunId,
) -> End {
    loop {
        match engine.wait(&run).await {
            Err(error @ EngineError::Failed { .. }) => {
                tracing::warn!(%run, %error, "cannot get the outcome of a run; retrying");
                clock.sleep(RETRY_DELAY).await;
            }
            outcome => return (member, outcome),
        }
    }
}

async fn sleep_to(clock: &dyn Clock, until: Option<Timestamp>) {
    let Some(until) = until else {
        return std::future::pending().await;
    };
    let left = until.duration_since(clock.now());
    clock
        .sleep(Duration::try_from(left).unwrap_or_default())
        .await;
}

impl Coordinator {
    /// Runs the strategy until it finishes or `control` is cancelled, and returns the report.
    ///
    /// While `control` is paused, no member starts, running members are asked to pause, and no time
    /// counts. Messages sent through `control` are forwarded to the running members.
    ///
    /// # Errors
    ///
    /// The fleet could not start: its name is invalid, its time limit is zero, or the engine does
    /// not report which runs exist.
    pub async fn run(&self, control: &RunControl) -> Result<FleetReport, CoordinationError> {
        InvalidValue::check_time("time(0)", self.strategy_run.time)?;
        let (name, strategy_run) = (self.fleet.clone(), self.strategy_run.clone());
        let machine = FleetMachine::new(name, strategy_run, self.clock.now())?;
        Driver::new(self, machine).run(control).await
    }
}
