//! Runs one session: setup, conversation, steering and end.

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::pin::pin;
use std::sync::Arc;

use futures::future::BoxFuture;
use futures::{FutureExt, future};
use tokio_util::sync::CancellationToken;

use super::control::Inbox;
use super::prepare::catch_panic;
use super::run_context::RunContext;
use super::session_setup::{gate, mcp_servers, toolbox};
use super::session_task::{SessionResources, SessionTask};
use super::stream_reporter::StreamReporter;
use super::{RunMessage, RunRequest, Session, SessionLimits};
use crate::agent::{
    AgentClient, AgentError, AgentErrorKind, BudgetKind, BudgetUsage, NoControl, Prompt,
    SessionControl, SessionEnd, SessionOutcome, SessionReport, SessionScope, StreamEvent,
};
use crate::event::{Events, Failure, InstructionName, RunEventKind};
use crate::ledger::{FatalSignal, LedgerStore};
use crate::time::SessionKey;
use crate::time::timestamp::between;
use crate::tool::{CallRecords, ServedTools, Toolbox};

/// Receives the stream events of an agent as they arrive.
pub(crate) type StreamHandler<'a> = &'a mut (dyn FnMut(&StreamEvent) + Send);

/// A session that is set up and not started yet.
struct Ready {
    client: Box<dyn AgentClient>,
    control: Arc<dyn SessionControl>,
    prompt: Prompt,
    records: CallRecords,
    /// Serves Autonoe's tools until the session is over.
    served: Option<ServedTools>,
}

/// A session that has ended, before observers are notified of its end.
#[must_use = "observers expect the end of every session"]
pub(crate) struct EndedSession {
    events: Events,
    number: u32,
    pub(crate) result: SessionReport,
}

impl EndedSession {
    /// Emits the end of the session. `flaw` is the reason why a normally ended session counts as
    /// failed.
    pub(crate) fn emit(mut self, flaw: Option<Failure>) -> SessionReport {
        self.result.flaw = flaw.map(Box::new);
        self.events.emit(RunEventKind::SessionEnded {
            number: self.number,
            result: &self.result,
        });
        self.result
    }
}

/// A message on its way into a running session.
struct Steering {
    message: RunMessage,
    delivered: BoxFuture<'static, Result<(), AgentError>>,
}

impl RunContext {
    /// Runs the session of `task` and handles requests meanwhile. It emits all events of the
    /// session except its end.
    pub(crate) async fn session(
        &self,
        resources: SessionResources<'_>,
        task: SessionTask<'_>,
        inbox: &mut dyn Inbox,
        on_stream: StreamHandler<'_>,
    ) -> EndedSession {
        let events = self.events.child();
        let (number, instruction) = (task.number, task.instruction.clone());
        tracing::info!(run = %self.run, session = number, %instruction, "session started");
        events.emit(RunEventKind::SessionStarted {
            number,
            instruction: &instruction,
            model: self.model(&task),
        });
        if let Some(conversation) = &task.overrides.resume {
            events.emit(RunEventKind::ConversationResumed { conversation });
        }
        let baseline = self.progress_baseline(resources).await;
        let mut result = self
            .perform(resources, task, &events, inbox, on_stream)
            .await;
        result.progress = self.progress_since(&baseline, resources).await;
        tracing::info!(run = %self.run, session = number, end = ?result.end, "session ended");
        EndedSession {
            events,
            number,
            result,
        }
    }

    fn model<'m>(&'m self, task: &'m SessionTask<'_>) -> Option<&'m str> {
        let usual = self
            .parts
            .settings
            .models
            .for_phase(task.instruction.phase());
        task.overrides.model.as_deref().or(usual)
    }

    async fn perform(
        &self,
        resources: SessionResources<'_>,
        mut task: SessionTask<'_>,
        events: &Events,
        inbox: &mut dyn Inbox,
        on_stream: StreamHandler<'_>,
    ) -> SessionReport {
        let control = self.control.clone();
        let spent = task
            .budget_at(self.now())
            .exhausted(&BudgetUsage::default());
        if let Some(budget) = spent
            && !control.is_cancelled()
        {
            return SessionReport::new(SessionEnd::BudgetSpent { budget });
        }
        let started = self.now();
        let not_queried = |end| SessionReport {
            duration: between(started, self.now()),
            ..SessionReport::new(end)
        };
        let over = CancellationToken::new();
        let _closed_on_drop = over.clone().drop_guard();
        // Lives as long as the session: later events of its backend are dropped.
        let scope = SessionScope::new(events.clone());
        let timed_out = self.timed_out(task.budget_at(self.now()).time);
        let ready = tokio::select! {
            biased;
            () = control.cancelled() => return not_queried(SessionEnd::Cancelled),
            () = timed_out => {
                let budget = BudgetKind::Time;
                return not_queried(SessionEnd::BudgetSpent { budget });
            }
            ready = catch_panic(self.set_up(resources, &mut task, events, &over, &scope)) => ready,
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
        let limits = SessionLimits {
            budget,
            ..self.parts.settings.session_limits
        };
        let session = Session::new(self.parts.settings.clock.clone(), limits)
            .heartbeat_events(&scope.events())
            .end_token(over);
        let stop = control.token();
        let clock = self.parts.settings.clock.clone();
        let instruction = task.instruction.clone();
        let mut reporter = StreamReporter::start(events.clone(), clock, records, &prompt.text);
        let mut on_event = |stream: &StreamEvent| {
            on_stream(stream);
            reporter.report(stream);
        };
        let conversation = session.run(client, prompt, &stop, &mut on_event).boxed();
        let mut result = self
            .handle_requests(resources, conversation, session_control, &stop, inbox)
            .await;
        let is_unvisited = served.as_ref().is_some_and(ServedTools::never_connected);
        if is_unvisited && claims_to_have_planned(&instruction, &result) {
            let error = tools_not_visited(resources);
            result.end = SessionEnd::Failed { error };
        }
        reporter.end(&result.end);
        result
    }

    /// Handles requests until the conversation is over, and stops it when the ledger or the journal
    /// is lost.
    async fn handle_requests(
        &self,
        resources: SessionResources<'_>,
        mut conversation: BoxFuture<'_, SessionReport>,
        session_control: Arc<dyn SessionControl>,
        stop: &CancellationToken,
        inbox: &mut dyn Inbox,
    ) -> SessionReport {
        let control = self.control.clone();
        let can_steer = resources.capabilities.steering.is_yes();
        let mut steering: Option<Steering> = None;
        let ledger = resources.store.map(|store| store.fatal_signal().clone());
        let lost = [self.lost_journal.clone(), ledger.unwrap_or_default()];
        let mut ground_is_lost = pin!(wait_for_loss(&lost).fuse());
        loop {
            tokio::select! {
                biased;
                mut result = &mut conversation => {
                    if let Some(error) = lost.iter().find_map(FatalSignal::failure) {
                        let error = error.clone();
                        result.end = SessionEnd::Failed { error };
                    }
                    // Messages that the agent did not read in time, or that were not delivered at
                    // all, go to the next session.
                    for text in unread_messages(session_control.as_ref()) {
                        inbox.requeue(text);
                    }
                    if let Some(Steering { message, delivered }) = steering {
                        match delivered.now_or_never() {
                            Some(Ok(())) => inbox.record_steered(message),
                            _ => inbox.receive(RunRequest::Instruct(message)),
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
                        Ok(()) => inbox.record_steered(message),
                        Err(error) => {
                            tracing::debug!(%error, "a message is kept for the next session");
                            inbox.receive(RunRequest::Instruct(message));
                        }
                    }
                }
                request = control.next_request(), if steering.is_none() => match request {
                    RunRequest::Instruct(message) if can_steer => {
                        let (control, text) = (session_control.clone(), message.text().to_owned());
                        let delivered = steer(control, text).boxed();
                        steering = Some(Steering { message, delivered });
                    }
                    request => inbox.receive(request),
                },
            }
        }
    }

    /// Sets up everything that a session needs.
    async fn set_up(
        &self,
        resources: SessionResources<'_>,
        task: &mut SessionTask<'_>,
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
        let tools = toolbox(parts, resources, task)?
            .with_extra(parts.settings.tool_data.clone())
            .with_events(events.clone())
            .with_records(records.clone())
            .with_end_token(over.clone());
        let gate = gate(parts, resources, task, &tools)?
            .with_events(events.clone())
            .with_records(records.clone())
            .with_end_token(over.clone());
        let served = self.serve(resources, &key, &tools).await?;
        let mut spec = parts.settings.session_spec(key, gate, tools);
        spec.epoch = resources.store.map(LedgerStore::epoch).unwrap_or_default();
        spec.instruction = task.instruction.clone();
        spec.model = self.model(task).map(str::to_owned);
        if let Some(system_prompt) = &task.overrides.system_prompt {
            spec.system_prompt = Some(system_prompt.clone());
        }
        spec.mcp_servers = mcp_servers(self, resources, task);
        spec.optional_servers = self.optional_servers.clone();
        if let Some(served) = &served {
            let server = served
                .settings_for(resources.capabilities.tool_server)
                .ok_or_else(|| tools_not_reached(resources))?;
            spec.mcp_servers
                .insert(Toolbox::SERVER.to_owned(), server.clone());
        }
        spec.span = *events.span();
        spec.events = scope.events();
        spec.trace = Some(match &parts.settings.trace {
            Some(parent) => parent.with_span(events.span()),
            None => events.span().into(),
        });
        spec.budget = task.budget_at(self.now());
        spec.max_turns = task.overrides.max_turns.or(parts.settings.max_turns);
        spec.resume = task.overrides.resume.clone();
        // Does not rely on the backend: a backend that ignores a field would start a session with
        // fewer limits than the caller requested.
        spec.refuse_unclaimed(resources.capabilities)
            .map_err(|error| Failure::from(&error))?;
        let client = parts
            .agents
            .create(spec)
            .map_err(|error| Failure::from(&error))?;
        Ok(Ready {
            control: client_control(client.as_ref()),
            client,
            prompt: compose_prompt(&instruction, task.messages),
            records,
            served,
        })
    }

    /// Serves Autonoe's tools to a backend that cannot take them in-process.
    async fn serve(
        &self,
        resources: SessionResources<'_>,
        key: &SessionKey,
        tools: &Toolbox,
    ) -> Result<Option<ServedTools>, Failure> {
        match &self.parts.settings.tool_server {
            Some(server) if !resources.capabilities.in_process_tools.is_yes() => {
                let served = server.serve(key, tools.clone()).await;
                served.map(Some).map_err(|error| Failure::from(&error))
            }
            _ => Ok(None),
        }
    }
}

/// Returns whether a planning session ended as if it had planned.
fn claims_to_have_planned(instruction: &InstructionName, result: &SessionReport) -> bool {
    let ended_well = matches!(
        result.end,
        SessionEnd::Outcome(SessionOutcome::Completed | SessionOutcome::MaxTurns)
    );
    *instruction == InstructionName::Initializer && ended_well
}

/// Returns the failure of an agent that never connected to the tool server and therefore could not
/// plan.
fn tools_not_visited(resources: SessionResources<'_>) -> Failure {
    let backend = &resources.capabilities.backend;
    let message = format!(
        "the agent of {backend} never connected to the server of the deliverable tools, so it \
         could not create deliverables"
    );
    Failure::retryable("tools_not_reached", message)
}

/// Returns the failure of a backend that reaches MCP servers only by command, when the tool server
/// has none.
fn tools_not_reached(resources: SessionResources<'_>) -> Failure {
    let backend = &resources.capabilities.backend;
    let message = format!(
        "{backend} can only start MCP servers by a command, and the server of the deliverable \
         tools has only an address"
    );
    let mut failure = Failure::permanent("tools_not_reached", message);
    failure.remedy = Some("give the run a tool server that has a command as well".to_owned());
    failure
}

/// Waits until the message is delivered; forever if there is none.
async fn delivery(steering: &mut Option<Steering>) -> Result<(), AgentError> {
    match steering {
        Some(steering) => (&mut steering.delivered).await,
        None => future::pending().await,
    }
}

/// Returns the control of a client, or [`NoControl`] if the client panics.
fn client_control(client: &dyn AgentClient) -> Arc<dyn SessionControl> {
    catch_unwind(AssertUnwindSafe(|| client.control())).unwrap_or_else(|_panic| {
        tracing::error!("the control of an agent client panicked");
        Arc::new(NoControl)
    })
}

/// Returns the messages that the agent of a session never read; none if the control panics.
fn unread_messages(control: &dyn SessionControl) -> Vec<String> {
    catch_unwind(AssertUnwindSafe(|| control.take_unread())).unwrap_or_else(|_panic| {
        tracing::error!("the control of an agent client panicked");
        Vec::new()
    })
}

/// Sends a message into a running session. A panic becomes an error.
async fn steer(control: Arc<dyn SessionControl>, message: String) -> Result<(), AgentError> {
    let sent = AssertUnwindSafe(control.steer(&message))
        .catch_unwind()
        .await;
    sent.unwrap_or_else(|_panic| {
        let message = "the control of the session panicked";
        Err(AgentError::new(AgentErrorKind::Other, message))
    })
}

/// Waits until the journal or the ledger is lost.
async fn wait_for_loss([journal, ledger]: &[FatalSignal; 2]) {
    tokio::select! {
        () = journal.raised() => {}
        () = ledger.raised() => {}
    }
}

/// Combines the instruction and the operator's messages into one prompt.
fn compose_prompt(instruction: &str, messages: &[String]) -> Prompt {
    if messages.is_empty() {
        return Prompt::new(instruction);
    }
    let mut text = instruction.trim_end().to_owned();
    text.push_str("\n\n## Messages from the operator\n");
    for message in messages {
        text.push_str("\n- ");
        text.push_str(&message.trim().replace('\n', "\n  "));
    }
    text.push('\n');
    Prompt::new(text)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn messages_follow_the_instruction() {
        let prompt = compose_prompt("Do it.\n", &["be quick".into(), "one\ntwo".into()]);

        assert_eq!(
            prompt.text,
            "Do it.\n\n## Messages from the operator\n\n- be quick\n- one\n  two\n"
        );
        assert_eq!(compose_prompt("Do it.\n", &[]).text, "Do it.\n");
    }
}
