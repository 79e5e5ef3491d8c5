//! One session, as a caller orders it.

use std::fmt;
use std::sync::Arc;

use super::SessionAccess;
use crate::domain::{AgentSessionId, Budget, InstructionName, InvalidValue};
use crate::port::Tool;
use crate::run::task::Extras;

/// One session, as a caller orders it: a prompt, and what is special about it.
///
/// What is not set is as the builder says. A blank name, a blank model or a limit of 0 turns fails
/// the session as `invalid_value`, and it reaches no agent.
///
/// ```
/// use autonoe_core::{InstructionName, SessionAccess, SessionOrder};
///
/// let work = SessionOrder::new("Implement the next deliverable.")
///     .named("implement")
///     .deliverable_tools(InstructionName::Coding);
/// let judge = SessionOrder::new("Is it done?")
///     .named("check")
///     .access(SessionAccess::reading());
/// # drop((work, judge));
/// ```
#[derive(Clone)]
pub struct SessionOrder {
    pub(super) prompt: String,
    pub(super) name: InstructionName,
    pub(super) ledger_tools: Option<InstructionName>,
    pub(super) budget: Budget,
    pub(super) extras: Extras,
}

impl SessionOrder {
    /// Orders a session that begins with `prompt`.
    pub fn new(prompt: impl Into<String>) -> Self {
        Self {
            prompt: prompt.into(),
            name: InstructionName::new("prompt"),
            ledger_tools: None,
            budget: Budget::default(),
            extras: Extras::default(),
        }
    }

    /// Names what the agent is told to do, for observers and the journal: a step, for example.
    ///
    /// A name that a built-in instruction has, too, brings none of its tools.
    #[must_use]
    pub fn named(mut self, name: impl Into<String>) -> Self {
        self.name = InstructionName::new(name);
        self
    }

    /// Gives the agent the deliverable tools of `instruction`; none by default, and none without a
    /// repository. See [`deliverable_tools`](crate::deliverable_tools).
    #[must_use]
    pub fn deliverable_tools(mut self, instruction: InstructionName) -> Self {
        self.ledger_tools = Some(instruction);
        self
    }

    /// Adds a tool to this session. It is granted, too. The session fails if its name is taken by
    /// another tool of the session or by a deliverable tool.
    #[must_use]
    pub fn tool(mut self, tool: impl Tool + 'static) -> Self {
        self.extras.tools.push(Arc::new(tool));
        self
    }

    /// Sets what the agent may do.
    #[must_use]
    pub fn access(mut self, access: SessionAccess) -> Self {
        self.extras.access = access;
        self
    }

    /// Goes on with an earlier conversation, by [`SessionResult::agent_session`].
    ///
    /// Ask [`Capabilities::resume`](crate::Capabilities::resume) first: on a backend that cannot,
    /// the session fails as `resume_not_supported` and reaches no agent.
    ///
    /// [`SessionResult::agent_session`]: crate::SessionResult::agent_session
    #[must_use]
    pub fn resuming(mut self, conversation: AgentSessionId) -> Self {
        self.extras.resume = Some(conversation);
        self
    }

    /// Sets the system prompt of this session.
    #[must_use]
    pub fn system_prompt(mut self, text: impl Into<String>) -> Self {
        self.extras.system_prompt = Some(text.into());
        self
    }

    /// Sets the model of this session.
    #[must_use]
    pub fn model(mut self, model: impl Into<String>) -> Self {
        self.extras.model = Some(model.into());
        self
    }

    /// Limits the turns of this session.
    #[must_use]
    pub fn max_turns(mut self, turns: u32) -> Self {
        self.extras.max_turns = Some(turns);
        self
    }

    /// Limits what this session may spend. What is left of the whole budget holds as well.
    ///
    /// With nothing left the session ends as
    /// [`SessionEnd::BudgetSpent`](crate::SessionEnd::BudgetSpent) and reaches no agent.
    #[must_use]
    pub fn budget(mut self, budget: Budget) -> Self {
        self.budget = budget;
        self
    }
}

impl SessionOrder {
    /// Refuses values with which no session could do anything.
    pub(super) fn check_values(&self) -> Result<(), InvalidValue> {
        InvalidValue::check_name("named(..)", self.name.as_str())?;
        InvalidValue::check_model("model(..)", self.extras.model.as_deref())?;
        InvalidValue::check_turns("max_turns(0)", self.extras.max_turns)
    }
}

impl fmt::Debug for SessionOrder {
    // The prompt is the user's and does not belong into diagnostics.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("SessionOrder")
            .field("name", &self.name)
            .field("access", &self.extras.access)
            .field("resume", &self.extras.resume)
            .finish_non_exhaustive()
    }
}
