//! [`SessionOrder`], the description of a session that a caller orders.

use std::fmt;
use std::sync::Arc;

use crate::agent::Budget;
use crate::event::{InstructionName, InvalidValue};
use crate::run::SessionAccess;
use crate::run::session_task::SessionOverrides;
use crate::time::AgentSessionId;
use crate::tool::Tool;

/// A session that a caller orders: a prompt and its differences from the builder's settings.
///
/// The builder's settings apply to everything that is not set. A blank name, a blank model or a
/// limit of 0 turns fails the session as `invalid_value`, before it reaches an agent.
///
/// ```
/// use autonoe_core::event::InstructionName;
/// use autonoe_core::run::SessionAccess;
/// use autonoe_core::SessionOrder;
///
/// let work = SessionOrder::new("Implement the next deliverable.")
///     .name("implement")
///     .deliverable_tools(InstructionName::Coding);
/// let judge = SessionOrder::new("Is it done?")
///     .name("check")
///     .access(SessionAccess::read_only());
/// # drop((work, judge));
/// ```
#[derive(Clone)]
pub struct SessionOrder {
    pub(super) prompt: String,
    pub(super) name: InstructionName,
    pub(super) ledger_tools: Option<InstructionName>,
    pub(super) budget: Budget,
    pub(super) overrides: SessionOverrides,
}

impl SessionOrder {
    /// Orders a session that starts with `prompt`.
    pub fn new(prompt: impl Into<String>) -> Self {
        Self {
            prompt: prompt.into(),
            name: InstructionName::new("prompt"),
            ledger_tools: None,
            budget: Budget::default(),
            overrides: SessionOverrides::default(),
        }
    }

    /// Names the agent's task for observers and the journal, such as the name of a step.
    ///
    /// The name of a built-in instruction does not add its tools.
    #[must_use]
    pub fn name(mut self, name: impl Into<String>) -> Self {
        self.name = InstructionName::new(name);
        self
    }

    /// Adds the deliverable tools of `instruction`; none by default, and none without a repository.
    /// See [`deliverable_tools`](crate::ledger::deliverable_tools).
    #[must_use]
    pub fn deliverable_tools(mut self, instruction: InstructionName) -> Self {
        self.ledger_tools = Some(instruction);
        self
    }

    /// Adds a tool to this session and grants it. The session fails if another tool of the session
    /// or a deliverable tool has the same name.
    #[must_use]
    pub fn tool(mut self, tool: impl Tool + 'static) -> Self {
        self.overrides.tools.push(Arc::new(tool));
        self
    }

    /// Sets the agent's permissions.
    #[must_use]
    pub fn access(mut self, access: SessionAccess) -> Self {
        self.overrides.access = access;
        self
    }

    /// Resumes an earlier conversation, by [`SessionReport::agent_session`].
    ///
    /// Check [`Capabilities::resume`](crate::Capabilities::resume) first: on a backend that cannot
    /// resume, the session fails as `resume_not_supported` and reaches no agent.
    ///
    /// [`SessionReport::agent_session`]: crate::agent::SessionReport::agent_session
    #[must_use]
    pub fn resume(mut self, conversation: AgentSessionId) -> Self {
        self.overrides.resume = Some(conversation);
        self
    }

    /// Sets the system prompt of this session.
    #[must_use]
    pub fn system_prompt(mut self, text: impl Into<String>) -> Self {
        self.overrides.system_prompt = Some(text.into());
        self
    }

    /// Sets the model of this session.
    #[must_use]
    pub fn model(mut self, model: impl Into<String>) -> Self {
        self.overrides.model = Some(model.into());
        self
    }

    /// Limits the turns of this session.
    #[must_use]
    pub fn max_turns(mut self, turns: u32) -> Self {
        self.overrides.max_turns = Some(turns);
        self
    }

    /// Limits the budget of this session. The rest of the whole budget applies as well.
    ///
    /// If nothing is left, the session ends as
    /// [`SessionEnd::BudgetSpent`](crate::agent::SessionEnd::BudgetSpent) and reaches no agent.
    #[must_use]
    pub fn budget(mut self, budget: Budget) -> Self {
        self.budget = budget;
        self
    }
}

impl SessionOrder {
    /// Refuses values that would make the session useless.
    pub(super) fn check_values(&self) -> Result<(), InvalidValue> {
        InvalidValue::check_name("name(..)", self.name.as_str())?;
        InvalidValue::check_model("model(..)", self.overrides.model.as_deref())?;
        InvalidValue::check_turns("max_turns(0)", self.overrides.max_turns)
    }
}

impl fmt::Debug for SessionOrder {
    // The prompt belongs to the user and must not appear in diagnostics.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("SessionOrder")
            .field("name", &self.name)
            .field("access", &self.overrides.access)
            .field("resume", &self.overrides.resume)
            .finish_non_exhaustive()
    }
}
