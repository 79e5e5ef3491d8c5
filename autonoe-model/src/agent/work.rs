//! The loop between a model and its tools.

use std::sync::{Arc, Mutex};

use autonoe_core::{
    AgentError, AgentErrorKind, AgentSessionId, ProjectMemory, SessionOutcome, SessionSpec,
    StreamEvent, Tool,
};
use tokio::sync::mpsc::UnboundedSender;
use tokio_util::sync::CancellationToken;

use super::ModelAgentOptions;
use super::asking::{Asking, NoAnswer};
use super::budget::Account;
use super::calls::Calls;
use super::client::Item;
use super::compaction::Told;
use super::control::Reach;
use super::conversation::Conversation;
use super::outcome::of_failure;
use super::rounds::{Rounds, Step};
use super::saved_conversation::SavedConversation;
use super::{ModelLimits, compaction, prompts};
use crate::contract::{
    ModelClient, ModelError, ModelErrorCode, ModelReply, ModelRequest, PartKind,
};
use crate::mcp::Servers;
use crate::retry::Retrying;

/// The memory file of a project that agents on models get.
const MEMORY_FILE: &str = "AGENTS.md";

/// A session: its conversation, and what it works with.
pub(super) struct Work {
    options: Arc<ModelAgentOptions>,
    model: Arc<Retrying>,
    spec: SessionSpec,
    /// The tools that the session does not bring itself.
    tools: Vec<Arc<dyn Tool>>,
    calls: Calls,
    servers: Servers,
    reach: Reach,
    limits: ModelLimits,
    system: String,
    /// A warning about the memory file of the project, until it is sent.
    memory_warning: Option<String>,
    /// Names the conversation in all turns, and in a session that resumes it.
    id: AgentSessionId,
    /// Whether the conversation to resume is still to be read.
    is_unread: bool,
    conversation: Conversation,
    account: Arc<Mutex<Account>>,
}

/// Why a turn does not go on.
enum Halt {
    /// It is over.
    Over(SessionOutcome),
    /// It failed.
    Failed(AgentError),
}

impl Work {
    pub(super) fn new(
        options: Arc<ModelAgentOptions>,
        model: Arc<dyn ModelClient>,
        tools: Vec<Arc<dyn Tool>>,
        spec: SessionSpec,
        reach: Reach,
    ) -> Result<Self, AgentError> {
        let calls = Calls::new(&spec, &tools, &[])?;
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
        let limits = options.limits.of(&retrying.identity().model);
        let new_id = || AgentSessionId::new(format!("model-{:016x}", options.ids.next_u64()));
        let id = spec.resume.clone().unwrap_or_else(new_id);
        Ok(Self {
            limits,
            id,
            is_unread: spec.resume.is_some(),
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
            servers: Servers::new(),
            reach,
            system,
            memory_warning: memory.warning,
        })
    }

    /// Forgets the turn: nobody listens any more.
    pub(super) fn abandon(&mut self) {
        self.reach.abandon();
    }

    /// Works on `prompt` until the turn is over, and tells `listener` what happens.
    pub(super) async fn turn(&mut self, prompt: String, listener: &UnboundedSender<Item>) {
        let stop = CancellationToken::new();
        self.reach.begin(stop.clone());
        let asking = Asking::new(
            self.model.clone(),
            self.account.clone(),
            self.spec.events.clone(),
            listener.clone(),
            stop,
        );
        // Before the start is reported: a conversation that is lost was never resumed.
        let earlier = match self.load().await {
            Ok(earlier) => earlier,
            Err(error) => {
                self.reach.abandon();
                let _ = listener.send(Err(error));
                return;
            }
        };
        let model = self.model.identity().model.clone();
        asking.tell(StreamEvent::started(self.id.clone(), Some(model)));
        if let Some(warning) = self.memory_warning.take() {
            asking.tell(StreamEvent::warning(warning));
        }
        let halt = match self.begin(&asking).await {
            Ok(()) => {
                if let Some(earlier) = earlier {
                    self.conversation
                        .resume(earlier.messages, earlier.instructions);
                    self.is_unread = false;
                }
                self.conversation.instruct(prompt);
                let most = self.spec.max_turns.unwrap_or(self.options.max_rounds);
                let halt = self.rounds(Rounds::new(most), &asking).await;
                self.save(&asking).await;
                halt
            }
            Err(halt) => halt,
        };
        self.reach.abandon();
        let last = match halt {
            Halt::Over(outcome) => Ok(StreamEvent::end(outcome, asking.account().cost())),
            Halt::Failed(error) => Err(error),
        };
        let _ = listener.send(last);
    }

    /// Reads the conversation that the session resumes; `None` if there is none or it is there
    /// already.
    async fn load(&self) -> Result<Option<SavedConversation>, AgentError> {
        let Some(directory) = self.spec.conversations.clone().filter(|_| self.is_unread) else {
            return Ok(None);
        };
        let id = self.id.clone();
        let saved = blocking(move || SavedConversation::load(&directory, &id)).await?;
        Ok(Some(saved))
    }

    /// Writes the conversation down, so that a later session can resume it.
    async fn save(&self, asking: &Asking) {
        let Some(directory) = self.spec.conversations.clone() else {
            return;
        };
        let (id, saved) = (self.id.clone(), SavedConversation::new(&self.conversation));
        if let Err(error) = blocking(move || saved.save(&directory, &id)).await {
            let warning = format!("the conversation cannot be resumed later: {error}");
            asking.tell(StreamEvent::warning(warning));
        }
    }

    /// Ends what belongs to the session, and waits until nothing of it is left.
    pub(super) async fn end(&mut self) -> Result<(), AgentError> {
        self.servers.end().await
    }

    /// Sees that the servers of the session are there, with their tools, before the model is
    /// told anything: an agent without the browser that it was promised would judge what it
    /// has never seen.
    async fn begin(&mut self, asking: &Asking) -> Result<(), Halt> {
        if !self.spec.mcp_servers.is_empty() {
            self.start_servers(asking).await?;
        }
        Ok(())
    }

    async fn start_servers(&mut self, asking: &Asking) -> Result<(), Halt> {
        let _note = self.spec.events.progress("waiting for the MCP servers");
        let ready = self.servers.ready(&self.spec, &self.options.mcp);
        let started = tokio::select! {
            biased;
            () = asking.stop().cancelled() => {
                return Err(Halt::Over(SessionOutcome::Interrupted));
            }
            started = ready => started.map_err(Halt::Failed)?,
        };
        if let Some(started) = started {
            let calls = Calls::new(&self.spec, &self.tools, &started.tools);
            self.calls = calls.map_err(Halt::Failed)?;
            let first = first_request(&self.spec, &self.calls, &self.system, self.limits);
            self.conversation = Conversation::new(first);
            for warning in started.warnings {
                asking.tell(StreamEvent::warning(warning));
            }
        }
        Ok(())
    }

    async fn rounds(&mut self, mut rounds: Rounds, asking: &Asking) -> Halt {
        loop {
            for text in self.reach.take_told() {
                self.conversation.instruct(text);
            }
            let is_spent = asking.account().exhausted().is_some();
            match rounds.before_asking(is_spent, self.is_too_long()) {
                Step::Shorten => {
                    if let Err(halt) = self.shorten(asking).await {
                        return halt;
                    }
                    continue;
                }
                Step::End(outcome) => return Halt::Over(outcome),
                _ => {}
            }
            let step = match asking.ask(self.conversation.request()).await {
                Ok(reply) => {
                    self.reach.heard();
                    say(&reply, asking);
                    self.conversation.answered(&reply);
                    match rounds.answered(&reply, self.reach.has_told()) {
                        Step::Call(then) => {
                            let results = self.calls.carry_out(&self.spec, &reply, asking).await;
                            self.conversation.results(results);
                            *then
                        }
                        step => {
                            self.conversation.answer_calls(prompts::NOT_CARRIED_OUT);
                            step
                        }
                    }
                }
                Err(NoAnswer::Stopped) => return Halt::Over(SessionOutcome::Interrupted),
                Err(NoAnswer::Failed(error)) => match rounds.failed(&error) {
                    Step::Shorten => Step::Shorten,
                    _ => return self.failed(&error),
                },
            };
            if asking.stop().is_cancelled() {
                return Halt::Over(SessionOutcome::Interrupted);
            }
            match step {
                Step::Tell(text) => self.conversation.tell(text),
                Step::Shorten => {
                    if let Err(halt) = self.shorten(asking).await {
                        return halt;
                    }
                }
                // Something may have been told in the last moment.
                Step::End(SessionOutcome::Completed) if !self.reach.end() => {}
                Step::End(outcome) => return Halt::Over(outcome),
                Step::Ask | Step::Call(_) | Step::Fail => {}
            }
        }
    }

    /// Returns how many tokens a conversation may have before it is made shorter.
    fn room(&self) -> u64 {
        let percent = u64::from(self.options.full_at_percent.clamp(10, 100));
        let full = self.limits.context / 100 * percent;
        // There must be room for an answer, but not for the longest.
        let answer = u64::from(self.limits.output).min(self.limits.context / 4);
        full.min(self.limits.context.saturating_sub(answer))
    }

    fn is_too_long(&self) -> bool {
        self.conversation.size() > self.room()
    }

    fn failed(&self, error: &ModelError) -> Halt {
        match of_failure(error, &self.options.retry, self.options.clock.now()) {
            Ok(outcome) => Halt::Over(outcome),
            Err(error) => Halt::Failed(error),
        }
    }

    /// Makes the conversation shorter, as far as there is anything to leave out.
    async fn shorten(&mut self, asking: &Asking) -> Result<(), Halt> {
        if asking.account().exhausted().is_some() {
            return Err(Halt::Over(SessionOutcome::BudgetExceeded));
        }
        let room = self.room().saturating_sub(self.conversation.beside());
        let conversation = &self.conversation;
        let (messages, told) = (conversation.messages(), conversation.instructions());
        let Some(plan) = compaction::plan(messages, told, room, self.limits.output) else {
            return Ok(());
        };
        let note = self
            .spec
            .events
            .progress("telling the conversation in short");
        let told = match asking.ask(&plan.question).await {
            Ok(reply) => Told::of(&reply),
            Err(NoAnswer::Stopped) => return Err(Halt::Over(SessionOutcome::Interrupted)),
            Err(NoAnswer::Failed(error)) if error.code == ModelErrorCode::ContextLengthExceeded => {
                Told::Nothing
            }
            Err(NoAnswer::Failed(error)) => return Err(self.failed(&error)),
        };
        drop(note);
        self.conversation.replace(plan.shortened(&told));
        asking.tell(StreamEvent::warning(told.warning()));
        Ok(())
    }
}

/// Does what waits for a disk on a thread for that.
async fn blocking<T: Send + 'static>(
    act: impl FnOnce() -> Result<T, AgentError> + Send + 'static,
) -> Result<T, AgentError> {
    let done = tokio::task::spawn_blocking(act).await;
    done.unwrap_or_else(|error| {
        let message = "the file of the conversation was left in the middle";
        Err(AgentError::new(AgentErrorKind::Other, message).because(error))
    })
}

/// Returns what a conversation begins with, before anything is said.
fn first_request(
    spec: &SessionSpec,
    calls: &Calls,
    system: &str,
    limits: ModelLimits,
) -> ModelRequest {
    ModelRequest::new([])
        .with_system(system.to_owned())
        .with_tools(calls.definitions().iter().cloned())
        .with_max_output_tokens(limits.output)
        .with_thinking(spec.thinking)
}

/// Tells what the agent says and thinks; its calls are told when they are carried out.
fn say(reply: &ModelReply, asking: &Asking) {
    for part in &reply.message.parts {
        match &part.kind {
            PartKind::Text { text } if !text.is_empty() => asking.tell(StreamEvent::text(text)),
            PartKind::Thinking { text } if !text.is_empty() => {
                asking.tell(StreamEvent::thinking(text));
            }
            _ => {}
        }
    }
}
