//! Carries out one session.

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::pin::pin;
use std::sync::Arc;

use futures::future::BoxFuture;
use futures::{FutureExt, future};
use tokio_util::sync::CancellationToken;

use super::equipment::{gate, mcp_servers, toolbox};
use super::inbox::Inbox;
use super::narrator::Narrator;
use super::prepare::caught;
use super::setting::Setting;
use super::task::{Stand, Task};
use super::{RunMessage, RunRequest, Session, prompt};
use crate::domain::quota::between;
use crate::domain::{
    BudgetKind, Failure, InstructionName, SessionEnd, SessionKey, SessionOutcome, SessionResult,
    Spent, StreamEvent,
};
use crate::port::{
    AgentClient, AgentError, AgentErrorKind, CallRecords, Events, NoControl, Prompt, RunEventKind,
    ServedTools, SessionControl, SessionScope, Toolbox,
};
use crate::tools::{LedgerBook, LostGround};

/// Hears what an agent says and does, as it comes.
pub(super) type Hearer<'a> = &'a mut (dyn FnMut(&StreamEvent) + Send);

/// A session that is ready to be run.
struct Ready {
    client: Box<dyn AgentClient>,
    control: Arc<dyn SessionControl>,
    prompt: Prompt,
    records: CallRecords,
    /// Serves our tools until the session is over.
    served: Option<ServedTools>,
}

/// A session that has ended, before observers are notified of its end.
#[must_use = "observers expect the end of every session"]
pub(super) struct EndedSession {
    events: Events,
    number: u32,
    pub(super) result: SessionResult,
}

impl EndedSession {
    /// Emits the end of the session. `flaw` is the reason why a session that ended normally counts
    /// as failed.
    pub(super) fn emit(mut self, flaw: Option<Failure>) -> SessionResult {
        self.result.flaw = flaw.map(Box::new);
        self.events.emit(RunEventKind::SessionEnded {
            number: self.number,
            result: &self.result,
        });
        self.result
    }
}

/// A message that is on its way into a running session.
struct Steering {
    message: RunMessage,
    delivered: BoxFuture<'static, Result<(), AgentError>>,
}

impl Setting {
    /// Runs the session that `task` describes and serves commands meanwhile. It emits all events of
    /// the session except its end.
    pub(super) async fn session(
        &self,
        stand: Stand<'_>,
        task: Task<'_>,
        inbox: &mut dyn Inbox,
        heard: Hearer<'_>,
    ) -> EndedSession {
        let events = self.events.child();
        let (number, instruction) = (task.number, task.instruction.clone());
        tracing::info!(run = %self.run, session = number, %instruction, "session started");
        events.emit(RunEventKind::SessionStarted {
            number,
            instruction: &instruction,
            model: self.model(&task),
        });
        if let Some(conversation) = &task.extras.resume {
            events.emit(RunEventKind::ConversationResumed { conversation });
        }
        let baseline = self.progress_baseline(stand).await;
        let mut result = self.perform(stand, task, &events, inbox, heard).await;
        result.progress = self.progress_since(&baseline, stand).await;
        tracing::info!(run = %self.run, session = number, end = ?result.end, "session ended");
        EndedSession {
            events,
            number,
            result,
        }
    }

    fn model<'m>(&'m self, task: &'m Task<'_>) -> Option<&'m str> {
        let usual = self.parts.models.for_phase(task.instruction.phase());
        task.extras.model.as_deref().or(usual)
    }

    async fn perform(
        &self,
        stand: Stand<'_>,
        mut task: Task<'_>,
        events: &Events,
        inbox: &mut dyn Inbox,
        heard: Hearer<'_>,
    ) -> SessionResult {
        let control = self.control.clone();
        let spent = task.budget_at(self.now()).exhausted(&Spent::default());
        if let Some(budget) = spent
            && !control.is_cancelled()
        {
            return SessionResult::new(SessionEnd::BudgetSpent { budget });
        }
        let begun = self.now();
        let not_queried = |end| SessionResult {
            duration: between(begun, self.now()),
            ..SessionResult::new(end)
        };
        let over = CancellationToken::new();
        let _closed_on_drop = over.clone().drop_guard();
        // Lives as long as the session: what its backend says later belongs nowhere.
        let scope = SessionScope::new(events.clone());
        let time_is_up = self.time_is_up(task.budget_at(self.now()).time);
        let ready = tokio::select! {
            biased;
            () = control.cancelled() => return not_queried(SessionEnd::Cancelled),
            () = time_is_up => {
                let budget = BudgetKind::Time;
                return not_queried(SessionEnd::BudgetSpent { budget });
            }
            ready = caught(self.make_ready(stand, &mut task, events, &over, &scope)) => ready,
        };
        let Ready {
            client,
            control: session_control,
            prompt,
            records,
            served,
        } = match ready {
            Ok(ready) => ready,
            Err(error) => return not_queried(SessionEnd::Failed { error }),
        };
        let budget = task.budget_at(self.now());
        let limits = self.parts.session_limits.with_budget(budget);
        let session = Session::new(self.parts.clock.clone(), limits)
            .hearing(&scope.events())
            .closing(over);
        let stop = control.token();
        let clock = self.parts.clock.clone();
        let instruction = task.instruction.clone();
        let mut narrator = Narrator::begin(events.clone(), clock, records, &prompt.text);
        let mut on_event = |stream: &StreamEvent| {
            heard(stream);
            narrator.tell(stream);
        };
        let conversation = session.run(client, prompt, &stop, &mut on_event).boxed();
        let mut result = self
            .accompany(stand, conversation, session_control, &stop, inbox)
            .await;
        let is_unvisited = served.as_ref().is_some_and(ServedTools::is_unvisited);
        if is_unvisited && planned_in_vain(&instruction, &result) {
            let error = tools_not_visited(stand);
            result.end = SessionEnd::Failed { error };
        }
        narrator.end(&result.end);
        result
    }

    /// Serves commands until the conversation is over, and stops it when nothing can be kept.
    async fn accompany(
        &self,
        stand: Stand<'_>,
        mut conversation: BoxFuture<'_, SessionResult>,
        session_control: Arc<dyn SessionControl>,
        stop: &CancellationToken,
        inbox: &mut dyn Inbox,
    ) -> SessionResult {
        let control = self.control.clone();
        let can_steer = stand.capabilities.steering.is_yes();
        let mut steering: Option<Steering> = None;
        let ledger = stand.book.map(|book| book.lost().clone());
        let lost = [self.lost_journal.clone(), ledger.unwrap_or_default()];
        let mut ground_is_lost = pin!(one_of(&lost).fuse());
        loop {
            tokio::select! {
                biased;
                mut result = &mut conversation => {
                    if let Some(error) = lost.iter().find_map(LostGround::why) {
                        let error = error.clone();
                        result.end = SessionEnd::Failed { error };
                    }
                    // What the agent did not hear in time is told to the next session, and so is
                    // what did not even arrive.
                    for text in unheard(session_control.as_ref()) {
                        inbox.unheard(text);
                    }
                    if let Some(Steering { message, delivered }) = steering {
                        match delivered.now_or_never() {
                            Some(Ok(())) => inbox.steered(message),
                            _ => inbox.take(RunRequest::Say(message)),
                        }
                    }
                    return result;
                }
                () = &mut ground_is_lost => stop.cancel(),
                delivered = delivery(&mut steering) => {
                    let Some(Steering { message, .. }) = steering.take() else {
                        continue;
                    };
                    match delivered {
                        Ok(()) => inbox.steered(message),
                        Err(error) => {
                            tracing::debug!(%error, "the session took no message");
                            inbox.take(RunRequest::Say(message));
                        }
                    }
                }
                request = control.next_request(), if steering.is_none() => match request {
                    RunRequest::Say(message) if can_steer => {
                        let (control, text) = (session_control.clone(), message.text().to_owned());
                        let delivered = steer(control, text).boxed();
                        steering = Some(Steering { message, delivered });
                    }
                    request => inbox.take(request),
                },
            }
        }
    }

    /// Makes everything that a session needs, or says why it cannot be had.
    async fn make_ready(
        &self,
        stand: Stand<'_>,
        task: &mut Task<'_>,
        events: &Events,
        over: &CancellationToken,
        scope: &SessionScope,
    ) -> Result<Ready, Failure> {
        let parts = &self.parts;
        let key = SessionKey {
            run: self.run.clone(),
            number: task.number,
        };
        let instruction = (&mut task.prompt).await?;
        if instruction.trim().is_empty() {
            let message = format!("the instruction {} is blank", task.instruction);
            return Err(Failure::permanent("instruction_missing", message));
        }
        let records = CallRecords::default();
        let tools = toolbox(parts, stand, task)?
            .with_extra(parts.tool_data.clone())
            .with_events(events.clone())
            .with_records(records.clone())
            .until(over.clone());
        let gate = gate(parts, stand, task, &tools)?
            .with_events(events.clone())
            .with_records(records.clone())
            .until(over.clone());
        let served = self.serve(stand, &key, &tools).await?;
        let mut spec = parts.session_spec(key, gate, tools);
        spec.epoch = stand.book.map(LedgerBook::epoch).unwrap_or_default();
        spec.instruction = task.instruction.clone();
        spec.model = self.model(task).map(str::to_owned);
        if let Some(system_prompt) = &task.extras.system_prompt {
            spec.system_prompt = Some(system_prompt.clone());
        }
        spec.mcp_servers = mcp_servers(self, stand, task);
        spec.optional_servers = self.optional_servers.clone();
        if let Some(served) = &served {
            let server = served.reached(stand.capabilities.tool_server);
            let server = server.ok_or_else(|| tools_not_reached(stand))?;
            spec.mcp_servers
                .insert(Toolbox::SERVER.to_owned(), server.clone());
        }
        spec.span = *events.span();
        spec.events = scope.events();
        spec.trace = Some(match &parts.trace {
            Some(parent) => parent.at(events.span()),
            None => events.span().into(),
        });
        spec.budget = task.budget_at(self.now());
        spec.max_turns = task.extras.max_turns.or(parts.max_turns);
        spec.resume = task.extras.resume.clone();
        // Does not rely on the backend: one that ignores a field would start a session that is
        // less limited than the caller asked for.
        spec.refuse_unclaimed(stand.capabilities)
            .map_err(|error| Failure::from(&error))?;
        let client = parts
            .agents
            .create(spec)
            .map_err(|error| Failure::from(&error))?;
        Ok(Ready {
            control: control_of(client.as_ref()),
            client,
            prompt: prompt::compose(&instruction, task.messages),
            records,
            served,
        })
    }

    /// Serves our tools to a backend that cannot take them in-process.
    async fn serve(
        &self,
        stand: Stand<'_>,
        key: &SessionKey,
        tools: &Toolbox,
    ) -> Result<Option<ServedTools>, Failure> {
        match &self.parts.tool_server {
            Some(server) if !stand.capabilities.in_process_tools.is_yes() => {
                let served = server.serve(key, tools.clone()).await;
                served.map(Some).map_err(|error| Failure::from(&error))
            }
            _ => Ok(None),
        }
    }
}

/// Tells whether a session was to plan and ended as if it had.
fn planned_in_vain(instruction: &InstructionName, result: &SessionResult) -> bool {
    let ended_well = matches!(
        result.end,
        SessionEnd::Outcome(SessionOutcome::Completed | SessionOutcome::MaxTurns)
    );
    *instruction == InstructionName::Initializer && ended_well
}

/// Says that an agent never reached our tools, without which it could plan nothing.
fn tools_not_visited(stand: Stand<'_>) -> Failure {
    let backend = &stand.capabilities.backend;
    let message = format!(
        "the agent of {backend} never reached the server of the deliverable tools, so that it could \
         plan nothing"
    );
    Failure::retryable("tools_not_reached", message)
}

/// Says that an agent knows servers by commands only, and ours has none.
fn tools_not_reached(stand: Stand<'_>) -> Failure {
    let backend = &stand.capabilities.backend;
    let message = format!(
        "{backend} knows MCP servers by commands only, and the server of the deliverable tools has \
         an address and no command"
    );
    let mut failure = Failure::permanent("tools_not_reached", message);
    failure.remedy = Some("give the run a tool server that has a command as well".to_owned());
    failure
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

/// Returns what a session was told and its agent never heard; one that panics has forgotten it.
fn unheard(control: &dyn SessionControl) -> Vec<String> {
    catch_unwind(AssertUnwindSafe(|| control.unheard())).unwrap_or_else(|_panic| {
        tracing::error!("the control of an agent client panicked");
        Vec::new()
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
