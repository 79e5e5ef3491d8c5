//! [`Expectation`] about the mode, settings, tools and servers of a session.

use autonoe_core::agent::{AgentErrorKind, OptionalServers};
use autonoe_core::tool::Toolbox;
use autonoe_core::{AgentError, SessionSpec};
use serde_json::Value;

use crate::ClaudePermissionMode;
use crate::launch::{ClaudeOptions, OfferedTools, Settings};
use crate::wire::Init;

/// The mode, settings, tools and servers that a session must have before any call is allowed.
///
/// Claude Code can start with less than was requested and report no error. So a session requests
/// its state, and allows nothing before the answer.
#[derive(Clone, Debug)]
pub(super) struct Expectation {
    mode: ClaudePermissionMode,
    settings: Settings,
    tools: OfferedTools,
    /// Tools that the program does not offer because a rule denies all of their calls.
    refused: Vec<String>,
    servers: Vec<String>,
    /// The servers that may be missing.
    optional: OptionalServers,
    /// Our own tools, by their qualified names.
    own_tools: Vec<String>,
    is_first_checked: bool,
}

impl Expectation {
    /// Creates the expectation for a session with `spec` that was started with `settings`.
    pub(super) fn new(options: &ClaudeOptions, spec: &SessionSpec, settings: Settings) -> Self {
        Self {
            mode: options.permission_mode,
            settings,
            tools: OfferedTools::new(options, spec),
            refused: options.refused_tools(),
            servers: spec.mcp_servers.keys().cloned().collect(),
            optional: spec.optional_servers.clone(),
            own_tools: spec
                .tools
                .definitions()
                .map(|tool| Toolbox::qualified_name(&tool.name))
                .collect(),
            is_first_checked: false,
        }
    }

    /// Checks the settings in force that Claude Code reports.
    pub(super) fn check_settings(&self, report: Option<&Value>) -> Result<(), AgentError> {
        match self.settings.not_in_force(report.unwrap_or(&Value::Null)) {
            None => Ok(()),
            Some(problem) => Err(not_as_requested(problem)),
        }
    }

    /// Returns whether the session has servers beside ours.
    pub(super) fn has_servers(&self) -> bool {
        !self.servers.is_empty()
    }

    /// Returns whether a server of the session is still connecting, by the `report` of Claude Code
    /// about its servers.
    pub(super) fn is_connecting(&self, report: Option<&Value>) -> bool {
        let servers = report.and_then(|report| report["mcpServers"].as_array());
        let mut states = servers.into_iter().flatten();
        states.any(|state| {
            let is_requested = self.servers.iter().any(|server| state["name"] == **server);
            is_requested && state["status"] == "pending"
        })
    }

    /// Checks what Claude Code reports at the start of a turn.
    pub(super) fn check_init(&mut self, init: &Init<'_>) -> Result<(), AgentError> {
        let mode = init.permission_mode.as_deref().unwrap_or("no");
        if mode != self.mode.as_str() {
            return Err(not_as_requested(&format!("it is in {mode:?} mode")));
        }
        let prefix = format!("mcp__{}__", Toolbox::SERVER);
        for tool in &init.tools {
            let is_own_tool = tool.starts_with(&prefix);
            let is_of_server = self.servers.iter().any(|server| {
                let prefix = format!("mcp__{server}__");
                tool.starts_with(&prefix)
            });
            if !is_own_tool && !is_of_server && !self.tools.contains(tool) {
                return Err(not_as_requested(&format!("it has the tool {tool:?}")));
            }
        }
        if !self.own_tools.is_empty() {
            let state = state_of(Toolbox::SERVER, init);
            if state != "connected" {
                return Err(not_as_requested(&format!(
                    "the MCP server of Autonoe's tools is {state}"
                )));
            }
        }
        if !std::mem::replace(&mut self.is_first_checked, true) {
            self.check_first_init(init)?;
        }
        Ok(())
    }

    /// Checks for requirements that may be lost later without harm, but must be met at the start.
    fn check_first_init(&self, init: &Init<'_>) -> Result<(), AgentError> {
        // Without our tools an agent works in vain: it cannot report that it is done.
        let requested = self.tools.required().iter().chain(&self.own_tools);
        for tool in requested.filter(|tool| !self.refused.contains(tool)) {
            if !init.tools.iter().any(|has| has == tool) {
                return Err(not_as_requested(&format!("it has no tool {tool:?}")));
            }
        }
        for server in self.servers.iter().filter(|it| !self.optional.contains(it)) {
            let state = state_of(server, init);
            if !["connected", "pending"].contains(&state) {
                // The server may be available the next time, unlike a wrong configuration.
                return Err(AgentError::new(
                    AgentErrorKind::Other,
                    format!(
                        "the MCP server {server:?} of the session is {state}; check that its \
                         command can be started, or leave it out of mcpServers"
                    ),
                ));
            }
        }
        Ok(())
    }
}

fn state_of<'i>(server: &str, init: &'i Init<'_>) -> &'i str {
    let states = init.mcp_servers.iter();
    let mut named = states.filter(|state| state.name.as_deref() == Some(server));
    named.next().map_or("not there", |state| {
        state.status.as_deref().unwrap_or("in an unknown state")
    })
}

fn not_as_requested(problem: &str) -> AgentError {
    AgentError::new(
        AgentErrorKind::Configuration,
        format!("Claude Code did not start as requested: {problem}"),
    )
}

#[cfg(test)]
mod tests {
    use std::path::Path;

    use autonoe_core::RunId;
    use autonoe_core::gate::{Gate, Grants, ProjectPaths};
    use autonoe_core::time::SessionKey;
    use serde_json::json;

    use super::*;
    use crate::wire::{Line, Message};

    fn expectation() -> Expectation {
        let key = SessionKey {
            run: RunId::new("run"),
            number: 1,
        };
        let gate = Gate::new(ProjectPaths::new("/srv/project"), Grants::none());
        let spec = SessionSpec::new(key, "/srv/project", gate, Toolbox::new([]));
        let options = ClaudeOptions::new("claude", []);
        let settings = Settings::new(&options, &spec, &[], Path::new("/tmp/session"));
        let settings = settings.expect("no rules");
        let mut expectation = Expectation::new(&options, &spec, settings);
        expectation.own_tools = vec!["mcp__autonoe__list".into()];
        expectation.servers = vec!["ext".into()];
        expectation
    }

    fn check(mode: &str, tools: &str, servers: &str) -> Result<(), String> {
        check_by(&mut expectation(), mode, tools, servers)
    }

    fn check_by(
        expectation: &mut Expectation,
        mode: &str,
        tools: &str,
        servers: &str,
    ) -> Result<(), String> {
        let line = Line::from_text(format!(
            r#"{{"type":"system","subtype":"init","permissionMode":"{mode}","tools":{tools},"mcp_servers":{servers}}}"#
        ))
        .expect("a message");
        let Message::Init(init) = line.parse() else {
            panic!("no start of a turn");
        };
        expectation
            .check_init(&init)
            .map_err(|error| error.to_string())
    }

    const SERVERS: &str =
        r#"[{"name":"autonoe","status":"connected"},{"name":"ext","status":"connected"}]"#;
    const TOOLS: &str = r#"["Bash","Edit","Glob","Grep","Read","Write","mcp__autonoe__list"]"#;

    #[test]
    fn a_turn_with_the_requested_settings_is_trusted() {
        let more = TOOLS.replace(']', r#","mcp__autonoe__create","mcp__ext__search"]"#);

        assert_eq!(check("dontAsk", &more, SERVERS), Ok(()));
        assert_eq!(check("dontAsk", TOOLS, SERVERS), Ok(()));
        let pending = SERVERS.replace(
            r#""ext","status":"connected""#,
            r#""ext","status":"pending""#,
        );
        assert_eq!(check("dontAsk", TOOLS, &pending), Ok(()));
    }

    #[test]
    fn a_server_of_the_session_is_waited_for_while_it_is_connected() {
        for (servers, waits) in [
            (json!([{"name": "ext", "status": "pending"}]), true),
            (json!([{"name": "ext", "status": "connected"}]), false),
            (json!([{"name": "ext", "status": "failed"}]), false),
            (json!([{"name": "ext", "status": "needs-auth"}]), false),
            (json!([{"name": "another", "status": "pending"}]), false),
            (json!([]), false),
            (json!(null), false),
        ] {
            let report = json!({ "mcpServers": servers });
            assert_eq!(
                expectation().is_connecting(Some(&report)),
                waits,
                "{report}"
            );
        }
        assert!(!expectation().is_connecting(None));
    }

    #[test]
    fn other_settings_are_not_trusted() {
        let fetch = TOOLS.replace(']', r#","WebFetch"]"#);
        let without = TOOLS.replace(r#","mcp__autonoe__list""#, "");
        let foreign = TOOLS.replace(']', r#","mcp__other__x"]"#);
        let own_tools = r#"[{"name":"autonoe","status":"connected"}]"#;
        let own_server_failed = SERVERS.replacen("connected", "failed", 1);
        let failed =
            r#"[{"name":"autonoe","status":"connected"},{"name":"ext","status":"failed"}]"#;
        for (mode, tools, servers, blamed) in [
            ("bypassPermissions", TOOLS, SERVERS, "bypassPermissions"),
            ("acceptEdits", TOOLS, SERVERS, "acceptEdits"),
            ("dontAsk", &fetch, SERVERS, "WebFetch"),
            ("dontAsk", &foreign, SERVERS, "mcp__other__x"),
            ("dontAsk", r#"["Bash"]"#, SERVERS, "no tool \"Read\""),
            (
                "dontAsk",
                &without,
                SERVERS,
                "no tool \"mcp__autonoe__list\"",
            ),
            ("dontAsk", TOOLS, "[]", "Autonoe's tools is not there"),
            (
                "dontAsk",
                TOOLS,
                &own_server_failed,
                "Autonoe's tools is failed",
            ),
            (
                "dontAsk",
                TOOLS,
                own_tools,
                "\"ext\" of the session is not there",
            ),
            ("dontAsk", TOOLS, failed, "\"ext\" of the session is failed"),
        ] {
            let error = check(mode, tools, servers).expect_err("not as requested");
            assert!(error.contains(blamed), "{error}");
        }
    }

    #[test]
    fn an_optional_server_may_be_missing_from_the_start() {
        let failed =
            r#"[{"name":"autonoe","status":"connected"},{"name":"ext","status":"failed"}]"#;
        for servers in [failed, r#"[{"name":"autonoe","status":"connected"}]"#] {
            let mut expectation = expectation();
            expectation.optional = OptionalServers::from_iter(["ext"]);

            let checked = check_by(&mut expectation, "dontAsk", TOOLS, servers);

            assert_eq!(checked, Ok(()), "{servers}");
        }
    }

    #[test]
    fn a_later_turn_may_lack_a_server_but_not_the_own_server_or_the_mode() {
        let mut expectation = expectation();
        let lost = r#"[{"name":"autonoe","status":"connected"},{"name":"ext","status":"failed"}]"#;
        let mut check =
            |mode: &str, servers: &str| check_by(&mut expectation, mode, TOOLS, servers);

        assert_eq!(check("dontAsk", SERVERS), Ok(()));
        assert_eq!(check("dontAsk", lost), Ok(()));
        assert!(check("acceptEdits", SERVERS).is_err());
        assert!(check("dontAsk", "[]").is_err());
    }
}
