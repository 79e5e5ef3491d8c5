//! [`SessionField`], a session field that a backend must claim, and the refusal of unclaimed
//! fields.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::agent::{
    AgentError, AgentErrorKind, Capabilities, OuterSandbox, Sandbox, SessionSpec, Support,
};

/// A field of a [`SessionSpec`] that a backend must claim in its [`Capabilities`] before a session
/// can set it.
#[derive(
    Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize, JsonSchema,
)]
#[serde(rename_all = "camelCase")]
#[non_exhaustive]
pub enum SessionField {
    /// [`SessionSpec::sandbox`] is required, and there is no outer sandbox.
    Sandbox,
    /// [`SessionSpec::outer_sandbox`] is [`OuterSandbox::bubblewrap`]. The caller provides any
    /// other.
    OuterSandbox,
    /// [`SessionSpec::model`] is set.
    Model,
    /// [`SessionSpec::system_prompt`] is set.
    SystemPrompt,
    /// [`SessionSpec::thinking`] is set.
    Thinking,
    /// [`SessionSpec::max_turns`] is set.
    MaxTurns,
    /// [`SessionSpec::mcp_servers`] are not empty.
    McpServers,
    /// [`SessionSpec::project_memory`] is off.
    ProjectMemory,
    /// [`SessionSpec::resume`] is set.
    Resume,
}

impl SessionField {
    /// Every field, in the order in which they are checked.
    pub const ALL: [Self; 9] = [
        Self::Sandbox,
        Self::OuterSandbox,
        Self::Model,
        Self::SystemPrompt,
        Self::Thinking,
        Self::MaxTurns,
        Self::McpServers,
        Self::ProjectMemory,
        Self::Resume,
    ];

    /// Returns the name of the field in a [`SessionSpec`].
    pub fn name(self) -> &'static str {
        match self {
            Self::Sandbox => "sandbox",
            Self::OuterSandbox => "outer_sandbox",
            Self::Model => "model",
            Self::SystemPrompt => "system_prompt",
            Self::Thinking => "thinking",
            Self::MaxTurns => "max_turns",
            Self::McpServers => "mcp_servers",
            Self::ProjectMemory => "project_memory",
            Self::Resume => "resume",
        }
    }

    /// Returns the code of [`AgentErrorKind::Unclaimed`].
    pub(super) fn code(self) -> &'static str {
        match self {
            Self::Sandbox => "sandbox_not_supported",
            Self::OuterSandbox => "outer_sandbox_not_supported",
            Self::Model => "model_not_supported",
            Self::SystemPrompt => "system_prompt_not_supported",
            Self::Thinking => "thinking_not_supported",
            Self::MaxTurns => "max_turns_not_supported",
            Self::McpServers => "mcp_servers_not_supported",
            Self::ProjectMemory => "project_memory_not_supported",
            Self::Resume => "resume_not_supported",
        }
    }

    fn is_set(self, spec: &SessionSpec) -> bool {
        let outer = spec.outer_sandbox.as_ref();
        match self {
            // A sandbox around the whole backend contains its tools, too.
            Self::Sandbox => spec.sandbox == Sandbox::Required && outer.is_none(),
            Self::OuterSandbox => outer.is_some_and(OuterSandbox::is_bubblewrap),
            Self::Model => spec.model.is_some(),
            Self::SystemPrompt => spec.system_prompt.is_some(),
            Self::Thinking => spec.thinking.is_some(),
            Self::MaxTurns => spec.max_turns.is_some(),
            Self::McpServers => !spec.mcp_servers.is_empty(),
            Self::ProjectMemory => !spec.project_memory,
            Self::Resume => spec.resume.is_some(),
        }
    }

    fn support(self, claimed: &Capabilities) -> Support {
        match self {
            Self::Sandbox => claimed.sandbox,
            Self::OuterSandbox => claimed.outer_sandbox,
            Self::Model => claimed.model,
            Self::SystemPrompt => claimed.system_prompt,
            Self::Thinking => claimed.thinking,
            Self::MaxTurns => claimed.max_turns,
            Self::McpServers => claimed.mcp_servers,
            Self::ProjectMemory => claimed.project_memory_off,
            Self::Resume => claimed.resume,
        }
    }

    fn reason(self) -> &'static str {
        match self {
            Self::Sandbox => "it has no sandbox for its tools",
            Self::OuterSandbox => "it does not start its agents in bubblewrap",
            Self::Model => "a session cannot choose its model",
            Self::SystemPrompt => "a session cannot set the system prompt",
            Self::Thinking => "a session cannot set how much the agent thinks",
            Self::MaxTurns => "a session cannot limit the turns of the agent",
            Self::McpServers => "it cannot connect its agents to MCP servers",
            Self::ProjectMemory => "it cannot hide the memory files of the project from the agent",
            Self::Resume => "it cannot resume an earlier conversation",
        }
    }

    /// Returns the remedy that applies to every backend.
    fn remedy(self) -> &'static str {
        match self {
            Self::Sandbox => {
                "run it in an outer sandbox, switch the sandbox off, or use another backend"
            }
            Self::OuterSandbox => {
                "leave `outer_sandbox` out, name the sandbox that the whole run is in, or use \
                 another backend"
            }
            Self::Model => "leave `model` out, or use another backend",
            Self::SystemPrompt => "leave `system_prompt` out, or use another backend",
            Self::Thinking => "leave `thinking` out, or use another backend",
            Self::MaxTurns => "leave `max_turns` out, or use another backend",
            Self::McpServers => {
                "leave the MCP servers out (`\"mcpServers\": {}` in agent.json removes the built-in \
                 browser), or use another backend"
            }
            Self::ProjectMemory => "leave `project_memory` on, or use another backend",
            Self::Resume => "start a new conversation, or use another backend",
        }
    }
}

impl Capabilities {
    /// Refuses the first of `fields` that the backend does not claim.
    ///
    /// Runs, sessions and commands all use this check. [`SessionSpec::refuse_unclaimed`] calls it
    /// with the fields of a session.
    ///
    /// ```
    /// use autonoe_core::agent::{AgentErrorKind, SessionField, Support};
    /// use autonoe_core::Capabilities;
    ///
    /// let claimed = Capabilities::new("parrots").with_model(Support::Yes);
    ///
    /// assert!(claimed.require([SessionField::Model]).is_ok());
    /// let error = claimed.require([SessionField::Model, SessionField::Resume]).unwrap_err();
    /// assert_eq!(error.kind(), AgentErrorKind::Unclaimed(SessionField::Resume));
    /// ```
    ///
    /// # Errors
    ///
    /// [`AgentErrorKind::Unclaimed`]. The message names the backend and the field. The remedy is
    /// the one of the backend ([`with_remedy`](Self::with_remedy)), or explains how to do without
    /// the field.
    pub fn require(
        &self,
        fields: impl IntoIterator<Item = SessionField>,
    ) -> Result<(), AgentError> {
        let mut fields = fields.into_iter();
        let unclaimed = fields.find(|field| !field.support(self).is_yes());
        unclaimed.map_or(Ok(()), |field| Err(self.refusal(field)))
    }

    fn refusal(&self, field: SessionField) -> AgentError {
        let reason = match (field, &self.sandbox_problem) {
            (SessionField::Sandbox, Some(problem)) => problem,
            _ => field.reason(),
        };
        let (backend, name) = (&self.backend, field.name());
        let message = format!("{backend} does not support the setting `{name}`: {reason}");
        let remedy = self.remedies.get(&field).map(String::as_str);
        AgentError::new(AgentErrorKind::Unclaimed(field), message)
            .with_remedy(remedy.unwrap_or(field.remedy()))
    }
}

impl SessionSpec {
    /// Refuses the session if it sets a field that the backend does not claim in `claimed`.
    ///
    /// Call it first in [`create`](crate::AgentClientFactory::create). A backend must honour the
    /// fields that it claims, and must still validate their values.
    ///
    /// ```
    /// use autonoe_core::gate::{Gate, Grants, ProjectPaths};
    /// use autonoe_core::time::SessionKey;
    /// use autonoe_core::{Capabilities, RunId, SessionSpec};
    /// use autonoe_core::agent::{Sandbox, Support};
    /// use autonoe_core::tool::Toolbox;
    ///
    /// let key = SessionKey { run: RunId::new("run"), number: 1 };
    /// let gate = Gate::new(ProjectPaths::new("/srv/project"), Grants::none());
    /// let mut spec = SessionSpec::new(key, "/srv/project", gate, Toolbox::new([]));
    /// spec.sandbox = Sandbox::Off;
    /// spec.model = Some("large".to_owned());
    ///
    /// let able = Capabilities::new("parrots").with_model(Support::Yes);
    /// assert!(spec.refuse_unclaimed(&able).is_ok());
    ///
    /// let error = spec.refuse_unclaimed(&Capabilities::new("parrots")).unwrap_err();
    /// assert_eq!(error.code(), "model_not_supported");
    /// assert_eq!(
    ///     error.to_string(),
    ///     "parrots does not support the setting `model`: a session cannot choose its model"
    /// );
    /// ```
    ///
    /// # Errors
    ///
    /// Same as [`Capabilities::require`].
    pub fn refuse_unclaimed(&self, claimed: &Capabilities) -> Result<(), AgentError> {
        let fields = SessionField::ALL.into_iter();
        let fields = fields.filter(|field| field.is_set(self));
        match self.conversations {
            Some(_) => claimed.clone().for_conversation_dir().require(fields),
            None => claimed.require(fields),
        }
    }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use super::*;
    use crate::agent::ThinkingBudget;
    use crate::gate::{Gate, Grants, ProjectPaths};
    use crate::time::{AgentSessionId, RunId, SessionKey};
    use crate::tool::{McpServer, Toolbox};

    fn plain() -> SessionSpec {
        let key = SessionKey {
            run: RunId::new("run"),
            number: 1,
        };
        let gate = Gate::new(ProjectPaths::new("/p"), Grants::none());
        let mut spec = SessionSpec::new(key, "/p", gate, Toolbox::new([]));
        spec.sandbox = Sandbox::Off;
        spec
    }

    type Set = fn(&mut SessionSpec);
    type Claimed = fn(Capabilities) -> Capabilities;

    const FIELDS: [(SessionField, Set, Claimed); 9] = [
        (
            SessionField::Sandbox,
            |spec| spec.sandbox = Sandbox::Required,
            |it| it.with_sandbox(Support::Yes),
        ),
        (
            SessionField::OuterSandbox,
            |spec| spec.outer_sandbox = Some(OuterSandbox::bubblewrap()),
            |it| it.with_outer_sandbox(Support::Yes),
        ),
        (
            SessionField::Model,
            |spec| spec.model = Some("large".to_owned()),
            |it| it.with_model(Support::Yes),
        ),
        (
            SessionField::SystemPrompt,
            |spec| spec.system_prompt = Some("Be brief.".to_owned()),
            |it| it.with_system_prompt(Support::Yes),
        ),
        (
            SessionField::Thinking,
            |spec| spec.thinking = Some(ThinkingBudget::default()),
            |it| it.with_thinking(Support::Yes),
        ),
        (
            SessionField::MaxTurns,
            |spec| spec.max_turns = Some(3),
            |it| it.with_max_turns(Support::Yes),
        ),
        (
            SessionField::McpServers,
            |spec| {
                let server = McpServer::Stdio {
                    command: "true".to_owned(),
                    args: Vec::new(),
                    env: Default::default(),
                    transport: None,
                };
                spec.mcp_servers.insert("notes".to_owned(), server);
            },
            |it| it.with_mcp_servers(Support::Yes),
        ),
        (
            SessionField::ProjectMemory,
            |spec| spec.project_memory = false,
            |it| it.with_project_memory_off(Support::Yes),
        ),
        (
            SessionField::Resume,
            |spec| spec.resume = Some(AgentSessionId::new("earlier")),
            |it| it.with_resume(Support::Yes),
        ),
    ];

    #[test]
    fn a_field_is_refused_with_backend_field_and_remedy_unless_it_is_claimed() {
        let nothing = Capabilities::new("agents");
        for (field, set, claimed) in FIELDS {
            let mut spec = plain();
            assert!(spec.refuse_unclaimed(&nothing).is_ok());
            set(&mut spec);

            let error = spec.refuse_unclaimed(&nothing).expect_err(field.name());

            assert_eq!(error.kind(), AgentErrorKind::Unclaimed(field));
            assert!(!error.is_retryable());
            let expected = format!("agents does not support the setting `{}`: ", field.name());
            assert!(error.to_string().starts_with(&expected), "{error}");
            assert_eq!(error.remedy(), Some(field.remedy()));
            let accepted = spec.refuse_unclaimed(&claimed(nothing.clone()));
            assert!(accepted.is_ok(), "{accepted:?}");
        }
    }

    #[test]
    fn a_conversation_is_resumed_in_a_directory_for_conversations() {
        let claimed = Capabilities::new("agents").with_conversation_dir(Support::Yes);
        let mut spec = plain();
        spec.resume = Some(AgentSessionId::new("earlier"));
        let error = spec.refuse_unclaimed(&claimed).expect_err("no directory");
        spec.conversations = Some("/p/.autonoe/conversations".into());

        assert_eq!(
            error.kind(),
            AgentErrorKind::Unclaimed(SessionField::Resume)
        );
        assert!(spec.refuse_unclaimed(&claimed).is_ok());
        let unable = Capabilities::new("agents");
        assert!(spec.refuse_unclaimed(&unable).is_err());
    }

    #[test]
    fn names_and_codes_are_unique_per_field() {
        let names: BTreeSet<_> = SessionField::ALL.map(SessionField::name).into();
        let codes: BTreeSet<_> = SessionField::ALL.map(SessionField::code).into();

        assert_eq!(names.len(), FIELDS.len());
        assert_eq!(codes.len(), FIELDS.len());
    }

    #[test]
    fn an_outer_sandbox_around_the_whole_run_is_sufficient() {
        let mut spec = plain();
        spec.sandbox = Sandbox::Required;
        spec.outer_sandbox = Some(OuterSandbox {
            name: "a container".to_owned(),
        });

        assert!(spec.refuse_unclaimed(&Capabilities::new("agents")).is_ok());
    }

    #[test]
    fn the_remedy_and_the_sandbox_problem_of_the_backend_are_kept() {
        let claimed = Capabilities::new("agents")
            .with_sandbox_problem("bwrap is not on PATH")
            .with_remedy(SessionField::Sandbox, "install bubblewrap")
            .with_remedy(SessionField::Resume, "keep the home folder");

        let no_sandbox = claimed.require([SessionField::Sandbox]).expect_err("none");
        let no_resume = claimed.require([SessionField::Resume]).expect_err("none");

        assert_eq!(
            no_sandbox.to_string(),
            "agents does not support the setting `sandbox`: bwrap is not on PATH"
        );
        assert_eq!(no_sandbox.remedy(), Some("install bubblewrap"));
        assert_eq!(no_resume.remedy(), Some("keep the home folder"));
    }
}
