//! Agent loop between a model and its tools.

use std::sync::{Arc, Mutex};

use autonoe_core::agent::{AgentErrorKind, SessionOutcome};
use autonoe_core::run::ProjectMemory;
use autonoe_core::time::AgentSessionId;
use autonoe_core::{AgentError, SessionSpec, StreamEvent, Tool};
use tokio::sync::mpsc::UnboundedSender;
use tokio_util::sync::CancellationToken;

use super::calls::SessionTools;
use super::compaction::Summary;
use super::control::TurnControl;
use super::conversation::{Conversation, SavedConversation};
use super::loop_policy::{LoopPolicy, LoopStep};
use super::metered_model::{Account, MeteredModel, MeteredModelError, TurnItem};
use super::outcome::session_outcome;
use super::{ModelAgentOptions, ModelLimits, compaction, prompts};
use crate::contract::{
    ModelClient, ModelError, ModelErrorCode, ModelReply, ModelRequest, PartKind,
};
use crate::mcp::Servers;
use crate::retry::Retrying;

/// Name of a project's memory file for agents on models.
const MEMORY_FILE: &str = "AGENTS.md";

/// State of a session: its conversation, model and tools.
pub(super) struct AgentLoop {
    options: Arc<ModelAgentOptions>,
    model: Arc<Retrying>,
    spec: SessionSpec,
    /// Tools beside those of the session itself.
    tools: Vec<Arc<dyn Tool>>,
    calls: SessionTools,
    servers: Servers,
    control: TurnControl,
    limits: ModelLimits,
    system: String,
    /// Warning about the project's memory file, until it is sent.
    memory_warning: Option<String>,
    /// ID of the conversation in all turns, and in a session that resumes it.
    id: AgentSessionId,
    /// Whether the conversation to resume still has to be loaded.
    needs_load: bool,
    conversation: Conversation,
    account: Arc<Mutex<Account>>,
}

/// Reason that a turn ends.
enum TurnStop {
    /// The turn ended with this outcome.
    Over(SessionOutcome),
    /// The turn failed.
    Failed(AgentError),
}

impl AgentLoop {
    pub(super) fn new(
        options: Arc<ModelAgentOptions>,
        model: Arc<dyn ModelClient>,
        tools: Vec<Arc<dyn Tool>>,
        spec: SessionSpec,
        control: TurnControl,
    ) -> Result<Self, AgentError> {
        let calls = SessionTools::new(&spec, &tools, &[])?;
        let own = spec
            .system_prompt
            .clone()
            .or_else(|| options.system_prompt.clone());
        let system = own.unwrap_or_else(|| prompts::system(&spec.cwd));
        let memory = ProjectMemory::read(&spec, MEMORY_FILE);
        let system = match memory.section {
            Some(section) => format!("{system}\n\n{section}"),
            None => system,
        };
        let retrying = Retrying::new(model, options.retry)
            .with_clock(options.clock.clone())
            .with_ids(options.ids.clone());
        let limits = options.limits.for_model(&retrying.identity().model);
        let new_id = || AgentSessionId::new(format!("model-{:016x}", options.ids.next_u64()));
        let id = spec.resume.clone().unwrap_or_else(new_id);
        Ok(Self {
            limits,
            id,
            needs_load: spec.resume.is_some(),
            conversation: Conversation::new(first_request(&spec, &calls, &system, limits)),
            account: Arc::new(Mutex::new(Account::new(
                options.prices.clone(),
                spec.budget,
            ))),
            model: Arc::new(retrying),
            options,
            spec,
            tools,
            calls,
            servers: Servers::Absent,
            control,
            system,
            memory_warning: memory.warning,
        })
    }

    /// Abandons the turn, because the listener was dropped.
    pub(super) fn abandon(&mut self) {
        self.control.abandon();
    }

    /// Works on `prompt` until the turn ends, and emits events to `listener`.
    pub(super) async fn turn(&mut self, prompt: String, listener: &UnboundedSender<TurnItem>) {
        let stop = CancellationToken::new();
        self.control.start(stop.clone());
        let model = MeteredModel {
            model: self.model.clone(),
            account: self.account.clone(),
            events: self.spec.events.clone(),
            listener: listener.clone(),
            stop,
            has_warned: Arc::default(),
            assists: Arc::default(),
        };
        // Before the start event: a conversation that cannot be loaded was never resumed.
        let earlier = match self.load().await {
            Ok(earlier) => earlier,
            Err(error) => {
                self.control.abandon();
                let _ = listener.send(Err(error));
                return;
            }
        };
        let name = self.model.identity().model.clone();
        model.emit(StreamEvent::started(self.id.clone(), Some(name)));
        if let Some(warning) = self.memory_warning.take() {
            model.emit(StreamEvent::warning(warning));
        }
        let turn_stop = match self.start_servers(&model).await {
            Ok(()) => {
                if let Some(earlier) = earlier {
                    self.conversation
                        .resume(earlier.messages, earlier.instructions);
                    self.needs_load = false;
                }
                self.conversation.add_instruction(prompt);
                let most = self.spec.max_turns.unwrap_or(self.options.max_rounds);
                let turn_stop = self.rounds(LoopPolicy::new(most), &model).await;
                self.save(&model).await;
                turn_stop
            }
            Err(turn_stop) => turn_stop,
        };
        self.control.abandon();
        let last = match turn_stop {
            TurnStop::Over(outcome) => Ok(StreamEvent::end(outcome, model.account().cost())),
            TurnStop::Failed(error) => Err(error),
        };
        let _ = listener.send(last);
    }

    /// Loads the conversation that the session resumes; `None` if there is none or it is already
    /// loaded.
    async fn load(&self) -> Result<Option<SavedConversation>, AgentError> {
        let Some(directory) = self.spec.conversations.clone().filter(|_| self.needs_load) else {
            return Ok(None);
        };
        let id = self.id.clone();
        let saved = blocking(move || SavedConversation::load(&directory, &id)).await?;
        Ok(Some(saved))
    }

    /// Saves the conversation, so that a later session can resume it.
    async fn save(&self, model: &MeteredModel) {
        let Some(directory) = self.spec.conversations.clone() else {
            return;
        };
        let (id, saved) = (self.id.clone(), SavedConversation::new(&self.conversation));
        if let Err(error) = blocking(move || saved.save(&directory, &id)).await {
            let warning = format!("the conversation cannot be resumed later: {error}");
            model.emit(StreamEvent::warning(warning));
        }
    }

    /// Ends everything that belongs to the session, and waits until nothing of it is left.
    pub(super) async fn end(&mut self) -> Result<(), AgentError> {
        self.servers.end().await
    }

    /// Ensures that the session's MCP servers and their tools are available before the first
    /// message to the model. An agent without the promised browser would judge pages that it has
    /// never seen.
    async fn start_servers(&mut self, model: &MeteredModel) -> Result<(), TurnStop> {
        if self.spec.mcp_servers.is_empty() {
            return Ok(());
        }
        let _note = self.spec.events.progress("waiting for the MCP servers");
        let ready = self.servers.ensure_started(&self.spec, &self.options.mcp);
        let started = tokio::select! {
            biased;
            () = model.stop.cancelled() => {
                return Err(TurnStop::Over(SessionOutcome::Interrupted));
            }
            started = ready => started.map_err(TurnStop::Failed)?,
        };
        if let Some(started) = started {
            let calls = SessionTools::new(&self.spec, &self.tools, &started.tools);
            self.calls = calls.map_err(TurnStop::Failed)?;
            let first = first_request(&self.spec, &self.calls, &self.system, self.limits);
            self.conversation = Conversation::new(first);
            for warning in started.warnings {
                model.emit(StreamEvent::warning(warning));
            }
        }
        Ok(())
    }

    async fn rounds(&mut self, mut rounds: LoopPolicy, model: &MeteredModel) -> TurnStop {
        loop {
            for text in self.control.take_queued() {
                self.conversation.add_instruction(text);
            }
            let is_spent = model.account().exhausted().is_some();
            match rounds.before_call(is_spent, self.is_too_long()) {
                LoopStep::Compact => {
                    if let Err(turn_stop) = self.shorten(model).await {
                        return turn_stop;
                    }
                    continue;
                }
                LoopStep::End(outcome) => return TurnStop::Over(outcome),
                _ => {}
            }
            let step = match model.call(self.conversation.request()).await {
                Ok(reply) => {
                    self.control.mark_read();
                    emit_parts(&reply, model);
                    self.conversation.add_reply(&reply);
                    match rounds.on_reply(&reply, self.control.has_queued()) {
                        LoopStep::Call(then) => {
                            let results = self.calls.run_calls(&self.spec, &reply, model).await;
                            self.conversation.results(results);
                            *then
                        }
                        step => {
                            self.conversation
                                .fail_pending_calls(prompts::NOT_CARRIED_OUT);
                            step
                        }
                    }
                }
                Err(MeteredModelError::Stopped) => {
                    return TurnStop::Over(SessionOutcome::Interrupted);
                }
                Err(MeteredModelError::Failed(error)) => match rounds.on_error(&error) {
                    LoopStep::Compact => LoopStep::Compact,
                    _ => return self.failed(&error),
                },
            };
            if model.stop.is_cancelled() {
                return TurnStop::Over(SessionOutcome::Interrupted);
            }
            match step {
                LoopStep::Prompt(text) => self.conversation.add_message(text),
                LoopStep::Compact => {
                    if let Err(turn_stop) = self.shorten(model).await {
                        return turn_stop;
                    }
                }
                // A steering message may have arrived at the last moment.
                LoopStep::End(SessionOutcome::Completed) if !self.control.end() => {}
                LoopStep::End(outcome) => return TurnStop::Over(outcome),
                LoopStep::CallModel | LoopStep::Call(_) | LoopStep::Fail => {}
            }
        }
    }

    /// Returns the maximum size of a conversation before it is compacted, in tokens.
    fn compaction_threshold(&self) -> u64 {
        let percent = u64::from(self.options.compact_at_percent.clamp(10, 100));
        let full = self.limits.context / 100 * percent;
        // An answer needs room, but not the maximum.
        let answer = u64::from(self.limits.output).min(self.limits.context / 4);
        full.min(self.limits.context.saturating_sub(answer))
    }

    fn is_too_long(&self) -> bool {
        self.conversation.size() > self.compaction_threshold()
    }

    fn failed(&self, error: &ModelError) -> TurnStop {
        match session_outcome(error, &self.options.retry, self.options.clock.now()) {
            Ok(outcome) => TurnStop::Over(outcome),
            Err(error) => TurnStop::Failed(error),
        }
    }

    /// Compacts the conversation, if there is anything to remove.
    async fn shorten(&mut self, model: &MeteredModel) -> Result<(), TurnStop> {
        if model.account().exhausted().is_some() {
            return Err(TurnStop::Over(SessionOutcome::BudgetExceeded));
        }
        let room = self
            .compaction_threshold()
            .saturating_sub(self.conversation.overhead());
        let conversation = &self.conversation;
        let (messages, instructions) = (conversation.messages(), conversation.instructions());
        let Some(plan) = compaction::plan(messages, instructions, room, self.limits.output) else {
            return Ok(());
        };
        let note = self.spec.events.progress("summarising the conversation");
        let summary = match model.call(&plan.summary_request).await {
            Ok(reply) => Summary::from_reply(&reply),
            Err(MeteredModelError::Stopped) => {
                return Err(TurnStop::Over(SessionOutcome::Interrupted));
            }
            Err(MeteredModelError::Failed(error))
                if error.code == ModelErrorCode::ContextLengthExceeded =>
            {
                Summary::Missing
            }
            Err(MeteredModelError::Failed(error)) => return Err(self.failed(&error)),
        };
        drop(note);
        self.conversation.replace(plan.apply(&summary));
        model.emit(StreamEvent::warning(summary.warning()));
        Ok(())
    }
}

/// Runs a blocking file operation on a thread for blocking work.
async fn blocking<T: Send + 'static>(
    act: impl FnOnce() -> Result<T, AgentError> + Send + 'static,
) -> Result<T, AgentError> {
    let done = tokio::task::spawn_blocking(act).await;
    done.unwrap_or_else(|error| {
        let message = "the file of the conversation was abandoned while it was being written";
        Err(AgentError::new(AgentErrorKind::Other, message).with_source(error))
    })
}

/// Returns the request that a conversation starts with, without messages.
fn first_request(
    spec: &SessionSpec,
    calls: &SessionTools,
    system: &str,
    limits: ModelLimits,
) -> ModelRequest {
    ModelRequest::new([])
        .with_system(system.to_owned())
        .with_tools(calls.definitions().iter().cloned())
        .with_max_output_tokens(limits.output)
        .with_thinking(spec.thinking)
}

/// Emits the text and the thinking of an answer. Calls emit their events when they run.
fn emit_parts(reply: &ModelReply, model: &MeteredModel) {
    for part in &reply.message.parts {
        match &part.kind {
            PartKind::Text { text } if !text.is_empty() => model.emit(StreamEvent::text(text)),
            PartKind::Thinking { text } if !text.is_empty() => {
                model.emit(StreamEvent::thinking(text));
            }
            _ => {}
        }
    }
}
