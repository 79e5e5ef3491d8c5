//! [`McpFailure`] of an MCP server of the session.

use std::collections::BTreeMap;

use autonoe_core::agent::AgentErrorKind;
use autonoe_core::tool::McpServer;
use autonoe_core::{AgentError, sanitize};
use serde_json::Value;

use super::mcp_log::McpLog;
use crate::outcome::stderr_excerpt;

/// An MCP server of the session that the program could not connect to.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct McpFailure<'a> {
    pub(super) name: &'a str,
    server: &'a McpServer,
    /// Whether the server requires other credentials.
    needs_auth: bool,
    /// The program's message about the failure.
    reason: Option<&'a str>,
}

impl<'a> McpFailure<'a> {
    /// Finds the first of `servers` that failed, in the program's answer to `mcp_status`.
    pub(super) fn find(
        status: Option<&'a Value>,
        servers: &'a BTreeMap<String, McpServer>,
    ) -> Option<Self> {
        let states = status?["mcpServers"].as_array()?;
        states.iter().find_map(|state| {
            let (name, server) = servers.get_key_value(state["name"].as_str()?)?;
            let needs_auth = state["status"] == "needs-auth";
            (needs_auth || state["status"] == "failed").then(|| Self {
                name,
                server,
                needs_auth,
                reason: state["error"].as_str(),
            })
        })
    }

    /// Builds the error of the session, with the program's log of the server.
    pub(super) fn error(&self, log: &McpLog) -> AgentError {
        let (target, remedy) = match self.server {
            McpServer::Stdio { command, .. } => (
                format!("program {command:?}"),
                "run the program yourself to see why it exits",
            ),
            McpServer::Remote { url, .. } => (
                without_secrets(url),
                if self.needs_auth {
                    "set the credentials of the server in its \"headers\""
                } else {
                    "check the address of the server"
                },
            ),
            _ => ("of an unknown kind".to_owned(), "use another server"),
        };
        let remedy = format!(
            "{remedy}, or leave the server out; \"mcpServers\": {{}} in .autonoe/agent.json leaves \
             out the browser, too"
        );
        let mut message = format!("the MCP server {:?} ({target})", self.name);
        message += if self.needs_auth {
            " refused the credentials"
        } else {
            " failed"
        };
        message += &match (log.http_status, self.needs_auth) {
            (Some(status), _) => format!(" with HTTP {status}"),
            (None, true) => " with HTTP 401 or 403".to_owned(),
            (None, false) => String::new(),
        };
        if let Some(reason) = self.reason.filter(|reason| !reason.is_empty()) {
            let reason = match self.server {
                McpServer::Remote { url, .. } => reason.replace(url, &without_secrets(url)),
                _ => reason.to_owned(),
            };
            message = format!("{message}: {}", sanitize(&reason.replace('\n', " ")));
        }
        if let Some(words) = log.stderr.as_deref().and_then(stderr_excerpt) {
            message = format!("{message}; its standard error ended with: {words}");
        }
        // The server may be available the next time, so this is not a configuration error.
        AgentError::new(AgentErrorKind::Other, message).with_remedy(remedy)
    }
}

/// Returns the address without user, query and fragment, where secrets often are.
fn without_secrets(url: &str) -> String {
    let address = url.split(['?', '#']).next().unwrap_or_default();
    let Some((scheme, rest)) = address.split_once("://") else {
        return address.to_owned();
    };
    let (host, path) = match rest.split_once('/') {
        Some((host, path)) => (host, format!("/{path}")),
        None => (rest, String::new()),
    };
    let host = host.rsplit('@').next().unwrap_or_default();
    format!("{scheme}://{host}{path}")
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn servers() -> BTreeMap<String, McpServer> {
        let servers = json!({
            "db": {"command": "db-server", "args": ["--key", "hidden"]},
            "web": {"type": "http", "url": "https://me:hidden@x.org:1/mcp?key=hidden#hidden"},
        });
        serde_json::from_value(servers).expect("servers")
    }

    fn message(state: &Value, log: &McpLog) -> Option<String> {
        let (status, servers) = (json!({"mcpServers": [state]}), servers());
        let failure = McpFailure::find(Some(&status), &servers)?;
        let error = failure.error(log);
        assert_eq!(error.kind(), AgentErrorKind::Other);
        assert!(error.remedy().is_some(), "{error}");
        Some(error.to_string())
    }

    #[test]
    fn a_failure_names_the_server_its_program_or_address_and_the_reason() {
        let nothing = McpLog::default();
        let with_stderr = McpLog {
            http_status: None,
            stderr: Some("cannot open\nthe \u{1b}[31mdatabase\n".to_owned()),
        };
        let refused = |status| McpLog {
            http_status: Some(status),
            stderr: None,
        };
        for (state, log, expected) in [
            (
                json!({"name": "db", "status": "failed", "error": "Connection closed"}),
                &with_stderr,
                "the MCP server \"db\" (program \"db-server\") failed: Connection closed; \
                 its standard error ended with: cannot open; the  [31mdatabase",
            ),
            (
                json!({"name": "db", "status": "failed"}),
                &nothing,
                "the MCP server \"db\" (program \"db-server\") failed",
            ),
            (
                json!({"name": "web", "status": "failed", "error": "Error POSTing"}),
                &refused(500),
                "the MCP server \"web\" (https://x.org:1/mcp) failed with HTTP 500: Error POSTing",
            ),
            (
                json!({"name": "web", "status": "failed",
                    "error": "no https://me:hidden@x.org:1/mcp?key=hidden#hidden here"}),
                &nothing,
                "the MCP server \"web\" (https://x.org:1/mcp) failed: no https://x.org:1/mcp here",
            ),
            (
                json!({"name": "web", "status": "needs-auth"}),
                &nothing,
                "the MCP server \"web\" (https://x.org:1/mcp) refused the credentials with HTTP \
                 401 or 403",
            ),
            (
                json!({"name": "web", "status": "needs-auth"}),
                &refused(403),
                "the MCP server \"web\" (https://x.org:1/mcp) refused the credentials with HTTP 403",
            ),
        ] {
            assert_eq!(message(&state, log).as_deref(), Some(expected));
        }
    }

    #[test]
    fn only_servers_of_the_session_that_failed_are_failures() {
        for state in [
            json!({"name": "db", "status": "connected"}),
            json!({"name": "db", "status": "pending"}),
            json!({"name": "other", "status": "failed"}),
            json!({"status": "failed"}),
            json!(null),
        ] {
            assert_eq!(message(&state, &McpLog::default()), None, "{state}");
        }
        assert_eq!(McpFailure::find(None, &servers()), None);
        assert_eq!(McpFailure::find(Some(&json!([])), &servers()), None);
    }
}
