//! Carries out one session.

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::pin::pin;
use std::sync::Arc;

use futures::future::BoxFuture;
use futures::{FutureExt, future};
use tokio_util::sync::CancellationToken;

use super::control::Command;
use super::drive::Drive;
use super::narrator::Narrator;
use super::prepare::{Ground, caught};
use super::{Session, SessionPlan, prompt};
use crate::domain::{BudgetKind, Failure, SessionEnd, SessionKey, SessionResult, StreamEvent};
use crate::port::{
    AgentClient, AgentError, AgentErrorKind, CallRecords, Events, Gate, NoControl, Prompt,
    ServedTools, SessionControl, SessionScope, SessionSpec, Toolbox,
};
use crate::tools::{LostGround, deliverable_tools};

/// A session that is ready to be run.
struct Ready {
    client: Box<dyn AgentClient>,
    control: Arc<dyn SessionControl>,
    prompt: Prompt,
    records: CallRecords,
    /// Serves our tools until the session is over.
    _served: Option<ServedTools>,
}

/// A message that is on its way into a running session.
struct Steering {
    text: String,
    delivered: BoxFuture<'static, Result<(), AgentError>>,
}

impl Drive {
    /// Runs the session that `plan` describes, and serves commands meanwhile.
    pub(super) async fn perform(
        &mut self,
        ground: &Ground,
        plan: &SessionPlan,
        events: &Events,
    ) -> SessionResult {
        let control = self.control.clone();
        let over = CancellationToken::new();
        let _closed_on_drop = over.clone().drop_guard();
        // Lives as long as the session: what its backend says later belongs nowhere.
        let scope = SessionScope::new(events.clone());
        let ready = tokio::select! {
            biased;
            () = control.cancelled() => return SessionResult::new(SessionEnd::Cancelled),
            () = self.time_is_up(plan) => {
                let budget = BudgetKind::Time;
                return SessionResult::new(SessionEnd::BudgetSpent { budget });
            }
            ready = caught(self.make_ready(ground, plan, events, &over, &scope)) => ready,
        };
        let Ready {
            client,
            control: session_control,
            prompt,
            records,
            _served,
        } = match ready {
            Ok(ready) => ready,
            Err(error) => return SessionResult::new(SessionEnd::Failed { error }),
        };
        let budget = plan.budget_at(self.parts.clock.now());
        let limits = self.parts.session_limits.with_budget(budget);
        let session = Session::new(self.parts.clock.clone(), limits).closing(over);
        let stop = control.token();
        let clock = self.parts.clock.clone();
        let mut narrator = Narrator::begin(events.clone(), clock, records, &prompt.text);
        let mut on_event = |stream: &StreamEvent| narrator.tell(stream);
        let conversation = session.run(client, prompt, &stop, &mut on_event).boxed();
        let result = self
            .accompany(ground, conversation, session_control, &stop)
            .await;
        narrator.end(&result.end);
        result
    }

    /// Serves commands until the conversation is over, and stops it when nothing can be kept.
    async fn accompany(
        &mut self,
        ground: &Ground,
        mut conversation: BoxFuture<'_, SessionResult>,
        session_control: Arc<dyn SessionControl>,
        stop: &CancellationToken,
    ) -> SessionResult {
        let control = self.control.clone();
        let can_steer = ground.capabilities.steering.is_yes();
        let mut steering: Option<Steering> = None;
        let lost = [self.lost_journal.clone(), ground.book.lost().clone()];
        let mut ground_is_lost = pin!(one_of(&lost).fuse());
        loop {
            tokio::select! {
                biased;
                mut result = &mut conversation => {
                    if let Some(error) = lost.iter().find_map(LostGround::why) {
                        let error = error.clone();
                        result.end = SessionEnd::Failed { error };
                    }
                    if let Some(Steering { text, delivered }) = steering {
                        // What did not arrive in time is told to the next session.
                        match delivered.now_or_never() {
                            Some(Ok(())) => self.steered(text),
                            _ => self.queue(text),
                        }
                    }
                    return result;
                }
                () = &mut ground_is_lost => stop.cancel(),
                delivered = delivery(&mut steering) => {
                    let Some(Steering { text, .. }) = steering.take() else {
                        continue;
                    };
                    match delivered {
                        Ok(()) => self.steered(text),
                        Err(error) => {
                            tracing::debug!(%error, "the session took no message");
                            self.queue(text);
                        }
                    }
                }
                command = control.next_command(), if steering.is_none() => match command {
                    Command::Instruct(text) if can_steer => {
                        let (control, message) = (session_control.clone(), text.clone());
                        let delivered = steer(control, message).boxed();
                        steering = Some(Steering { text, delivered });
                    }
                    command => {
                        let _ = self.take(command);
                    }
                },
            }
        }
    }

    /// Waits until the time of the run is up; for ever when it is not limited.
    async fn time_is_up(&self, plan: &SessionPlan) {
        let clock = &self.parts.clock;
        match plan.budget_at(clock.now()).time {
            Some(left) => clock.sleep(left).await,
            None => future::pending().await,
        }
    }

    /// Makes everything that a session needs, or says why it cannot be had.
    async fn make_ready(
        &self,
        ground: &Ground,
        plan: &SessionPlan,
        events: &Events,
        over: &CancellationToken,
        scope: &SessionScope,
    ) -> Result<Ready, Failure> {
        let parts = &self.parts;
        let key = SessionKey {
            run: self.run.clone(),
            number: plan.number,
        };
        let instruction = parts
            .instructions
            .resolve(&plan.instruction)
            .await
            .map_err(|error| Failure::from(&error))?;
        if instruction.trim().is_empty() {
            let message = format!("the instruction {} is blank", plan.instruction);
            return Err(Failure::permanent("instruction_missing", message));
        }
        let records = CallRecords::default();
        let mut tools = deliverable_tools(&ground.book, &plan.instruction);
        tools.extend(parts.tools.iter().cloned());
        let tools = Toolbox::new(tools)
            .with_extra(parts.tool_data.clone())
            .with_events(events.clone())
            .with_records(records.clone())
            .until(over.clone());
        let gate = self.gate(&tools, events).until(over.clone());
        let served = self.serve(ground, &key, &tools).await?;
        let mut spec = SessionSpec::new(key, parts.places.project.clone(), gate, tools);
        spec.epoch = ground.book.epoch();
        spec.instruction = plan.instruction.clone();
        spec.mode = parts.limits.mode;
        spec.model = parts
            .models
            .for_phase(plan.instruction.phase())
            .map(str::to_owned);
        spec.system_prompt = parts.system_prompt.clone();
        spec.thinking = parts.thinking;
        spec.mcp_servers = parts.mcp_servers.clone();
        if let Some(served) = &served {
            spec.mcp_servers
                .insert(Toolbox::SERVER.to_owned(), served.server.clone());
        }
        spec.sandbox = parts.sandbox;
        spec.outer_sandbox = parts.outer_sandbox.clone();
        spec.environment = parts.environment.clone();
        spec.lock = parts.lock.clone();
        spec.span = *events.span();
        spec.events = scope.events();
        spec.trace = Some(match &parts.trace {
            Some(parent) => parent.at(events.span()),
            None => events.span().into(),
        });
        spec.budget = plan.budget_at(parts.clock.now());
        spec.max_turns = parts.max_turns;
        let client = parts
            .agents
            .create(spec)
            .map_err(|error| Failure::from(&error))?;
        Ok(Ready {
            control: control_of(client.as_ref()),
            client,
            prompt: prompt::compose(&instruction, &plan.messages),
            records,
            _served: served,
        })
    }

    fn gate(&self, tools: &Toolbox, events: &Events) -> Gate {
        let parts = &self.parts;
        let grants = tools.granted_in(parts.grants.clone());
        let gate = Gate::new(parts.places.clone(), grants)
            .with_time_limit(parts.hook_time_limit)
            .with_events(events.clone());
        let gate = parts.guards.iter().cloned().fold(gate, Gate::with_guard);
        parts.hooks.iter().cloned().fold(gate, Gate::with_hook)
    }

    /// Serves our tools to a backend that cannot take them in-process.
    async fn serve(
        &self,
        ground: &Ground,
        key: &SessionKey,
        tools: &Toolbox,
    ) -> Result<Option<ServedTools>, Failure> {
        match &self.parts.tool_server {
            Some(server) if !ground.capabilities.in_process_tools.is_yes() => {
                let served = server.serve(key, tools.clone()).await;
                served.map(Some).map_err(|error| Failure::from(&error))
            }
            _ => Ok(None),
        }
    }
}

/// Waits until a message was delivered; for ever when none is on its way.
async fn delivery(steering: &mut Option<Steering>) -> Result<(), AgentError> {
    match steering {
        Some(steering) => (&mut steering.delivered).await,
        None => future::pending().await,
    }
}

/// Returns the control of a client; one that panics has none.
fn control_of(client: &dyn AgentClient) -> Arc<dyn SessionControl> {
    catch_unwind(AssertUnwindSafe(|| client.control())).unwrap_or_else(|_panic| {
        tracing::error!("the control of an agent client panicked");
        Arc::new(NoControl)
    })
}

/// Tells a running session something; a panic is an error like another.
async fn steer(control: Arc<dyn SessionControl>, message: String) -> Result<(), AgentError> {
    let told = AssertUnwindSafe(control.steer(&message))
        .catch_unwind()
        .await;
    told.unwrap_or_else(|_panic| {
        let what = "the control of the session panicked";
        Err(AgentError::new(AgentErrorKind::Other, what))
    })
}

/// Waits until what the session works on is lost.
async fn one_of([journal, ledger]: &[LostGround; 2]) {
    tokio::select! {
        () = journal.happened() => {}
        () = ledger.happened() => {}
    }
}
