//! What a session must have got before it is trusted.

use autonoe_core::{AgentError, AgentErrorKind, SessionSpec, Toolbox};
use serde_json::Value;

use crate::launch::{ClaudeOptions, SandboxSettings};
use crate::wire::Init;

/// What a session must have got before it is trusted.
///
/// The program starts with less than it was asked for in more than one case and
/// says nothing. So it is asked, and nothing is allowed before.
#[derive(Clone, Debug)]
pub(super) struct Expectation {
    sandbox: SandboxSettings,
    tools: Vec<String>,
    servers: Vec<String>,
    has_tools_of_ours: bool,
}

impl Expectation {
    pub(super) fn of(options: &ClaudeOptions, spec: &SessionSpec) -> Self {
        Self {
            sandbox: SandboxSettings::of(spec.sandbox),
            tools: options.tools.clone(),
            servers: spec.mcp_servers.keys().cloned().collect(),
            has_tools_of_ours: spec.tools.definitions().next().is_some(),
        }
    }

    /// Checks the settings that the program says are in force.
    pub(super) fn check_settings(&self, told: Option<&Value>) -> Result<(), AgentError> {
        match told.is_some_and(|told| self.sandbox.are_in_force(told)) {
            true => Ok(()),
            false => Err(not_as_asked("the settings of the sandbox are not in force")),
        }
    }

    /// Checks what the program says about itself at the start of a turn.
    pub(super) fn check_init(&self, init: &Init<'_>) -> Result<(), AgentError> {
        let mode = init.permission_mode.as_deref().unwrap_or("no");
        if mode != "dontAsk" {
            return Err(not_as_asked(&format!("it is in {mode:?} mode")));
        }
        let ours = format!("mcp__{}__", Toolbox::SERVER);
        for tool in &init.tools {
            let is_ours = tool.starts_with(&ours);
            let is_of_server = self.servers.iter().any(|server| {
                let prefix = format!("mcp__{server}__");
                tool.starts_with(&prefix)
            });
            if !is_ours && !is_of_server && !self.tools.iter().any(|asked| asked == tool) {
                return Err(not_as_asked(&format!("it has the tool {tool:?}")));
            }
        }
        if self.has_tools_of_ours {
            let state = init.mcp_servers.iter().find_map(|server| {
                let is_ours = server.name.as_deref() == Some(Toolbox::SERVER);
                is_ours.then(|| server.status.as_deref().unwrap_or("unknown"))
            });
            if state != Some("connected") {
                let state = state.unwrap_or("not there");
                return Err(not_as_asked(&format!("the server of our tools is {state}")));
            }
        }
        Ok(())
    }
}

fn not_as_asked(what: &str) -> AgentError {
    AgentError::new(
        AgentErrorKind::Configuration,
        format!("Claude Code did not start as it was asked to: {what}"),
    )
}

#[cfg(test)]
mod tests {
    use autonoe_core::{Gate, Grants, Places, RunId, SessionKey};

    use super::*;
    use crate::wire::{Line, Message};

    fn expectation() -> Expectation {
        let key = SessionKey {
            run: RunId::new("run"),
            number: 1,
        };
        let gate = Gate::new(Places::new("/srv/project"), Grants::none());
        let spec = SessionSpec::new(key, "/srv/project", gate, Toolbox::new([]));
        let mut expectation = Expectation::of(&ClaudeOptions::new("claude", []), &spec);
        expectation.has_tools_of_ours = true;
        expectation
    }

    fn check(mode: &str, tools: &str, servers: &str) -> Result<(), String> {
        let line = Line::from_text(format!(
            r#"{{"type":"system","subtype":"init","permissionMode":"{mode}","tools":{tools},"mcp_servers":{servers}}}"#
        ))
        .expect("a message");
        let Message::Init(init) = line.read() else {
            panic!("no start of a turn");
        };
        expectation()
            .check_init(&init)
            .map_err(|error| error.to_string())
    }

    #[test]
    fn a_turn_that_starts_as_asked_is_trusted() {
        let ours = r#"[{"name":"autonoe","status":"connected"}]"#;

        assert_eq!(
            check("dontAsk", r#"["Bash","Read","mcp__autonoe__list"]"#, ours),
            Ok(())
        );
        assert_eq!(check("dontAsk", "[]", ours), Ok(()));
    }

    #[test]
    fn anything_else_is_not() {
        let ours = r#"[{"name":"autonoe","status":"connected"}]"#;
        for (mode, tools, servers, blamed) in [
            ("bypassPermissions", "[]", ours, "bypassPermissions"),
            ("acceptEdits", "[]", ours, "acceptEdits"),
            ("dontAsk", r#"["Bash","WebFetch"]"#, ours, "WebFetch"),
            ("dontAsk", r#"["mcp__other__x"]"#, ours, "mcp__other__x"),
            ("dontAsk", "[]", "[]", "not there"),
            (
                "dontAsk",
                "[]",
                r#"[{"name":"autonoe","status":"failed"}]"#,
                "failed",
            ),
        ] {
            let error = check(mode, tools, servers).expect_err("not as asked");
            assert!(error.contains(blamed), "{error}");
        }
    }
}
