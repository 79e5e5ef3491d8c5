//! Refusal of session fields that a backend does not claim.

use super::{
    AgentError, AgentErrorKind, Capabilities, OuterSandbox, Sandbox, SessionSpec, Support,
};

impl SessionSpec {
    /// Refuses the session if it sets a field that the backend does not claim in `claimed`.
    ///
    /// Call it first in [`create`](super::AgentClientFactory::create). A backend that claims a field
    /// must honour it; it still checks the values that it does not accept.
    ///
    /// ```
    /// use autonoe_core::{Capabilities, Gate, Grants, ProjectPaths, RunId, SessionKey, SessionSpec};
    /// use autonoe_core::{Sandbox, Support, Toolbox};
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
    /// let refused = spec.refuse_unclaimed(&Capabilities::new("parrots")).unwrap_err();
    /// assert_eq!(
    ///     refused.to_string(),
    ///     "parrots does not support the session field `model`: a session cannot choose its model"
    /// );
    /// ```
    ///
    /// # Errors
    ///
    /// [`AgentErrorKind::Unsupported`]; the message names the first such field, and the remedy says
    /// how to do without it.
    pub fn refuse_unclaimed(&self, claimed: &Capabilities) -> Result<(), AgentError> {
        for field in self.claims(claimed) {
            if field.is_set && !field.support.is_yes() {
                return Err(field.refusal(&claimed.backend));
            }
        }
        Ok(())
    }

    /// Returns every field that a backend must claim before a session can set it.
    fn claims<'a>(&self, claimed: &'a Capabilities) -> [Claim<'a>; 9] {
        let is_bubblewrap = |outer: &OuterSandbox| outer.is_bubblewrap();
        let claim = |name, is_set, support, reason| Claim {
            name,
            is_set,
            support,
            reason,
            remedy: None,
        };
        [
            Claim {
                name: "sandbox",
                // A sandbox around the whole backend keeps its tools in, too.
                is_set: self.sandbox == Sandbox::Required && self.outer_sandbox.is_none(),
                support: claimed.sandbox,
                reason: match &claimed.sandbox_problem {
                    Some(problem) => problem,
                    None => "its tools cannot be kept in a sandbox of its own",
                },
                remedy: claimed.sandbox_remedy.as_deref().or(Some(
                    "run it in an outer sandbox, or switch the sandbox off",
                )),
            },
            Claim {
                name: "outer_sandbox",
                // Any other one was made by the program that embeds the run.
                is_set: self.outer_sandbox.as_ref().is_some_and(is_bubblewrap),
                support: claimed.outer_sandbox,
                reason: "it does not start its agents in bubblewrap",
                remedy: Some("leave it out, or name the sandbox that is around the whole run"),
            },
            claim(
                "model",
                self.model.is_some(),
                claimed.model,
                "a session cannot choose its model",
            ),
            claim(
                "system_prompt",
                self.system_prompt.is_some(),
                claimed.system_prompt,
                "the agent cannot be given a system prompt",
            ),
            claim(
                "thinking",
                self.thinking.is_some(),
                claimed.thinking,
                "how much the agent thinks cannot be set",
            ),
            claim(
                "max_turns",
                self.max_turns.is_some(),
                claimed.max_turns,
                "the turns of the agent cannot be limited",
            ),
            claim(
                "mcp_servers",
                !self.mcp_servers.is_empty(),
                claimed.mcp_servers,
                "the agent cannot be connected to MCP servers",
            ),
            claim(
                "project_memory",
                !self.project_memory,
                claimed.project_memory_off,
                "the agent cannot be kept from reading the memory files of the project",
            ),
            Claim {
                name: "resume",
                is_set: self.resume.is_some(),
                support: claimed.resume,
                reason: "an earlier conversation cannot be resumed",
                remedy: claimed.resume_remedy.as_deref(),
            },
        ]
    }
}

/// A field of a session, and whether the backend claims it.
struct Claim<'a> {
    name: &'static str,
    is_set: bool,
    support: Support,
    reason: &'a str,
    remedy: Option<&'a str>,
}

impl Claim<'_> {
    fn refusal(&self, backend: &str) -> AgentError {
        let Self { name, reason, .. } = self;
        let message = format!("{backend} does not support the session field `{name}`: {reason}");
        let error = AgentError::new(AgentErrorKind::Unsupported, message);
        match self.remedy {
            Some(remedy) => error.with_remedy(remedy),
            None => error.with_remedy(format!("leave `{name}` unset, or use another backend")),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::domain::{AgentSessionId, RunId, SessionKey};
    use crate::port::{Gate, Grants, McpServer, ProjectPaths, ThinkingBudget, Toolbox};

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

    const FIELDS: [(&str, Set, Claimed); 9] = [
        (
            "sandbox",
            |spec| spec.sandbox = Sandbox::Required,
            |it| it.with_sandbox(Support::Yes),
        ),
        (
            "outer_sandbox",
            |spec| spec.outer_sandbox = Some(OuterSandbox::bubblewrap()),
            |it| it.with_outer_sandbox(Support::Yes),
        ),
        (
            "model",
            |spec| spec.model = Some("large".to_owned()),
            |it| it.with_model(Support::Yes),
        ),
        (
            "system_prompt",
            |spec| spec.system_prompt = Some("Be brief.".to_owned()),
            |it| it.with_system_prompt(Support::Yes),
        ),
        (
            "thinking",
            |spec| spec.thinking = Some(ThinkingBudget::default()),
            |it| it.with_thinking(Support::Yes),
        ),
        (
            "max_turns",
            |spec| spec.max_turns = Some(3),
            |it| it.with_max_turns(Support::Yes),
        ),
        (
            "mcp_servers",
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
            "project_memory",
            |spec| spec.project_memory = false,
            |it| it.with_project_memory_off(Support::Yes),
        ),
        (
            "resume",
            |spec| spec.resume = Some(AgentSessionId::new("earlier")),
            |it| it.with_resume(Support::Yes),
        ),
    ];

    #[test]
    fn a_field_is_refused_by_name_unless_it_is_claimed() {
        let nothing = Capabilities::new("agents");
        for (name, set, claimed) in FIELDS {
            let mut spec = plain();
            assert!(spec.refuse_unclaimed(&nothing).is_ok());
            set(&mut spec);

            let refused = spec.refuse_unclaimed(&nothing).expect_err(name);

            assert_eq!(refused.kind(), AgentErrorKind::Unsupported);
            assert!(
                refused.to_string().contains(&format!("`{name}`")),
                "{refused}"
            );
            assert!(refused.remedy().is_some(), "{name}");
            let accepted = spec.refuse_unclaimed(&claimed(nothing.clone()));
            assert!(accepted.is_ok(), "{accepted:?}");
        }
    }

    #[test]
    fn a_sandbox_that_is_around_the_whole_run_is_enough() {
        let mut spec = plain();
        spec.sandbox = Sandbox::Required;
        spec.outer_sandbox = Some(OuterSandbox {
            name: "a container".to_owned(),
        });

        assert!(spec.refuse_unclaimed(&Capabilities::new("agents")).is_ok());
    }

    #[test]
    fn the_remedy_of_the_backend_is_kept() {
        let mut spec = plain();
        spec.resume = Some(AgentSessionId::new("earlier"));
        let claimed = Capabilities::new("agents").with_resume_remedy("keep the home folder");

        let refused = spec.refuse_unclaimed(&claimed).expect_err("not claimed");

        assert_eq!(refused.remedy(), Some("keep the home folder"));
    }
}
