//! What a conversation is begun with.

use std::ffi::OsStr;

use autonoe_core::{
    AgentError, AgentErrorKind, McpServer, RemoteTransport, SessionSpec, TraceContext,
};
use serde_json::{Map, Value, json};

use super::{CodexHome, CodexOptions, CodexProvider};
use crate::events::offered;
use crate::wire::{Effort, ThreadSettings};

/// Returns what the conversation of a session is begun with.
///
/// # Errors
///
/// The session has an MCP server that the program cannot reach.
pub(crate) fn thread_settings(
    options: &CodexOptions,
    spec: &SessionSpec,
) -> Result<ThreadSettings, AgentError> {
    let mut servers = Map::new();
    for (name, server) in &spec.mcp_servers {
        let mut entry = entry(name, server)?;
        entry["required"] = (!spec.optional_servers.contains(name)).into();
        servers.insert(name.clone(), entry);
    }
    let mut settings = ThreadSettings::default();
    settings.cwd.clone_from(&spec.cwd);
    settings.model.clone_from(&spec.model);
    settings
        .developer_instructions
        .clone_from(&spec.system_prompt);
    settings.effort = spec.thinking.map(Effort::from).or(options.effort);
    settings.tools = offered(&spec.tools);
    settings.is_ephemeral = options.home == CodexHome::PerSession && spec.conversations.is_none();
    let mut config = Map::new();
    if !servers.is_empty() {
        config.insert("mcp_servers".into(), servers.into());
    }
    let trace = trace_of(spec);
    if !trace.is_empty() {
        config.insert("shell_environment_policy".into(), json!({"set": trace}));
    }
    if let Some(provider) = &options.provider {
        // Tools could read it from the environment of the program.
        let key = provider_key(provider, options, spec)?;
        let token = json!({"autonoe": {"experimental_bearer_token": key}});
        config.insert("model_providers".into(), token);
    }
    if !config.is_empty() {
        settings.config = config.into();
    }
    Ok(settings)
}

/// Returns the key of the provider, from the session or from the options.
fn provider_key(
    provider: &CodexProvider,
    options: &CodexOptions,
    spec: &SessionSpec,
) -> Result<String, AgentError> {
    let name = &provider.key_variable;
    let of_session = spec.environment.get(name).cloned();
    let of_all = || options.environment.get(OsStr::new(name))?.to_str();
    let key = of_session.or_else(|| of_all().map(str::to_owned));
    key.filter(|key| !key.is_empty()).ok_or_else(|| {
        let message = format!("the variable {name} with the key of the provider is not set");
        AgentError::new(AgentErrorKind::Authentication, message)
            .with_remedy(format!("set {name} to the key"))
    })
}

/// Returns the trace of a session in variables for its commands. What the session says itself wins.
fn trace_of(spec: &SessionSpec) -> Map<String, Value> {
    let trace = spec.trace.iter().flat_map(TraceContext::environment);
    let trace = trace.filter(|(name, _)| !spec.environment.contains_key(*name));
    trace
        .map(|(name, value)| (name.to_owned(), value.into()))
        .collect()
}

/// How many seconds a server may take to start. The 10 of the program are too few for one that
/// is fetched first; a session may take longer than this to begin.
const SERVER_LIMIT: u32 = 100;

/// Returns a server as the program's configuration has it: each call is asked about.
fn entry(name: &str, server: &McpServer) -> Result<Value, AgentError> {
    let mut entry = match server {
        McpServer::Stdio {
            command, args, env, ..
        } => json!({"command": command, "args": args, "env": env}),
        McpServer::Remote {
            transport: RemoteTransport::Http,
            url,
            headers,
        } => json!({"url": url, "http_headers": headers}),
        _ => {
            return Err(AgentError::new(
                AgentErrorKind::Unsupported,
                format!(
                    "Codex does not reach the MCP server {name} in this way; use HTTP or pipes"
                ),
            ));
        }
    };
    entry["startup_timeout_sec"] = SERVER_LIMIT.into();
    entry["default_tools_approval_mode"] = "prompt".into();
    Ok(entry)
}
