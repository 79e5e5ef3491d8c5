//! Configuration file and conversation settings of a session.

use std::collections::BTreeSet;
use std::ffi::OsStr;
use std::fmt::Write;
use std::path::Path;

use autonoe_core::agent::AgentErrorKind;
use autonoe_core::event::TraceContext;
use autonoe_core::tool::{McpServer, RemoteTransport};
use autonoe_core::{AgentError, SessionSpec};
use serde_json::{Map, Value, json};

use super::{CodexHome, CodexOptions, CodexProvider};
use crate::Effort;
use crate::events::tool_definitions;
use crate::wire::ThreadSettings;

/// Features that are off in an unattended session.
///
/// The first would wait forever on a dead network. The others offer the agent tools without
/// permission requests, load code from other places, or connect to services that a run does not
/// need.
const OFF: &[&str] = &[
    "unbounded_connection_retries",
    "apps",
    "browser_use",
    "computer_use",
    "goals",
    "guardian_approval",
    "hooks",
    "image_generation",
    "multi_agent",
    "plugins",
    "remote_plugin",
    "shell_snapshot",
    "skill_mcp_dependency_install",
    "skill_search",
    "sleep_tool",
    "tool_suggest",
    // A command without a terminal has no input, so the agent cannot type into it.
    "unified_exec_tty",
    "view_image",
];

/// Returns the text of `config.toml` for a session in `cwd`.
pub(super) fn config_file(options: &CodexOptions, cwd: &Path) -> String {
    let mut text = String::new();
    let mut line = |parts: std::fmt::Arguments<'_>| {
        // Writing to a string does not fail.
        let _ = writeln!(text, "{parts}");
    };
    if options.provider.is_some() {
        line(format_args!("model_provider = \"autonoe\""));
    }
    line(format_args!("web_search = \"disabled\""));
    line(format_args!("check_for_update_on_startup = false"));
    // An abandoned conversation is closed at once.
    line(format_args!("thread_unload_delay_secs = 0"));
    // The text of `AGENTS.md` is sent with each conversation, unless the run turns it off.
    line(format_args!("project_doc_max_bytes = 0"));
    // A login shell would run files of its home first, which an agent can write.
    line(format_args!("allow_login_shell = false"));
    // Newer models have sub-agents regardless of the features.
    line(format_args!("\n[agents]\nenabled = false"));
    // They would be written into the home of the program, which is read-only in a sandbox.
    line(format_args!("\n[skills.bundled]\nenabled = false"));
    line(format_args!("\n[analytics]\nenabled = false"));
    line(format_args!("\n[history]\npersistence = \"none\""));
    line(format_args!("\n[features]"));
    for feature in OFF {
        line(format_args!("{feature} = false"));
    }
    // The environment of the program has only credentials that its tools may have.
    line(format_args!("\n[shell_environment_policy]"));
    line(format_args!("inherit = \"all\""));
    line(format_args!("ignore_default_excludes = true"));
    if let Some(provider) = &options.provider {
        line(format_args!("\n[model_providers.autonoe]"));
        line(format_args!("name = \"the provider of this run\""));
        line(format_args!(
            "base_url = {}",
            toml_string(&provider.base_url)
        ));
        line(format_args!("wire_api = \"responses\""));
        if let Some(retries) = provider.max_retries {
            line(format_args!("request_max_retries = {retries}"));
            line(format_args!("stream_max_retries = {retries}"));
        }
    }
    // Otherwise the program trusts the project on its own, and starts the servers and hooks that
    // files in it name. An agent can write such files.
    for project in project_paths(cwd) {
        line(format_args!("\n[projects.{}]", toml_string(&project)));
        line(format_args!("trust_level = \"untrusted\""));
    }
    text
}

/// Returns the project and all folders above it, by their given and canonical paths.
fn project_paths(cwd: &Path) -> BTreeSet<String> {
    let canonical = cwd.canonicalize().ok();
    [Some(cwd), canonical.as_deref()]
        .into_iter()
        .flatten()
        .flat_map(Path::ancestors)
        .map(|path| path.to_string_lossy().into_owned())
        .collect()
}

/// Returns `text` as a TOML string. Every JSON string is one.
fn toml_string(text: &str) -> String {
    serde_json::Value::from(text).to_string()
}

/// Returns the settings of the conversation of a session.
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
    settings.tools = tool_definitions(&spec.tools);
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
        // In the environment of the program, tools could read the key.
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
    let of_all = || options.program.environment.get(OsStr::new(name))?.to_str();
    let key = of_session.or_else(|| of_all().map(str::to_owned));
    key.filter(|key| !key.is_empty()).ok_or_else(|| {
        let message = format!("the variable {name} with the key of the provider is not set");
        AgentError::new(AgentErrorKind::Authentication, message)
            .with_remedy(format!("set {name} to the key"))
    })
}

/// Returns the trace of a session as variables for its commands. Variables of the session have
/// priority.
fn trace_of(spec: &SessionSpec) -> Map<String, Value> {
    let trace = spec.trace.iter().flat_map(TraceContext::environment);
    let trace = trace.filter(|(name, _)| !spec.environment.contains_key(*name));
    trace
        .map(|(name, value)| (name.to_owned(), value.into()))
        .collect()
}

/// Time limit in seconds for the start of a server. The program's default of 10 is too short for a
/// server that is downloaded first; the start limit of a session is longer than this.
const SERVER_LIMIT: u32 = 100;

/// Returns the configuration entry of a server: each call requires an approval.
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
                    "Codex does not support the transport of the MCP server {name}; use \
                     streamable HTTP or a command"
                ),
            ));
        }
    };
    entry["startup_timeout_sec"] = SERVER_LIMIT.into();
    entry["default_tools_approval_mode"] = "prompt".into();
    Ok(entry)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::launch::CodexProvider;

    #[test]
    fn a_project_is_not_trusted_and_the_key_is_not_in_the_file() {
        let mut provider = CodexProvider::new("http://[::1]:9/v1", "PASSE_PARTOUT");
        provider.max_retries = Some(2);
        let mut options = CodexOptions::new("/opt/codex", []);
        options.provider = Some(provider);

        let text = config_file(&options, Path::new("/srv/a \"b\"/c"));

        for expected in [
            "model_provider = \"autonoe\"\n",
            "project_doc_max_bytes = 0\n",
            "[agents]\nenabled = false\n",
            "[features]\nunbounded_connection_retries = false\n",
            "ignore_default_excludes = true\n",
            "base_url = \"http://[::1]:9/v1\"\nwire_api = \"responses\"\n",
            "request_max_retries = 2\nstream_max_retries = 2\n",
            "[projects.\"/srv/a \\\"b\\\"/c\"]\ntrust_level = \"untrusted\"\n",
            "[projects.\"/srv\"]\ntrust_level = \"untrusted\"\n",
        ] {
            assert!(text.contains(expected), "{expected}\nis not in\n{text}");
        }
        assert!(!text.contains("PASSE_PARTOUT"), "{text}");
    }

    #[test]
    fn without_a_provider_the_program_uses_its_own() {
        let text = config_file(&CodexOptions::new("/opt/codex", []), Path::new("/srv"));

        assert!(!text.contains("model_provider"), "{text}");
    }
}
