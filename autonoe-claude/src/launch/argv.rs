//! Command line of Claude Code.

use std::path::PathBuf;

use autonoe_core::SessionSpec;

use super::project_memory::has_memory;
use super::{ClaudeOptions, OfferedTools, Settings};

/// Long or secret values, passed in files.
#[derive(Debug, Default)]
pub(super) struct Files {
    pub(super) system_prompt: Option<PathBuf>,
    pub(super) mcp_servers: Option<PathBuf>,
}

/// Returns the arguments for one session.
///
/// Every value follows a `=`, because it may begin with a dash. One argument is at most 128 KiB
/// long, and every user of the machine can read it.
pub(super) fn arguments(
    options: &ClaudeOptions,
    spec: &SessionSpec,
    settings: &Settings,
    files: &Files,
) -> Vec<String> {
    let mut arguments: Vec<String> = [
        "--output-format=stream-json",
        "--verbose",
        "--input-format=stream-json",
        "--include-partial-messages",
        "--strict-mcp-config",
    ]
    .map(str::to_owned)
    .into();
    let mut add = |name: &str, value: String| arguments.push(format!("--{name}={value}"));
    add("permission-mode", options.permission_mode.as_str().into());
    add("setting-sources", options.setting_sources.as_str().into());
    add("tools", OfferedTools::new(options, spec).to_argument());
    add("settings", settings.to_json());
    if has_memory(options, spec) {
        // Together with a variable in the environment, this loads only memory files.
        add("add-dir", spec.cwd.display().to_string());
    }
    if let Some(file) = &files.mcp_servers {
        add("mcp-config", file.display().to_string());
    }
    if let Some(model) = &spec.model {
        add("model", model.clone());
    }
    if let Some(thinking) = spec.thinking {
        add("max-thinking-tokens", thinking.tokens().to_string());
    }
    if let Some(turns) = spec.max_turns {
        add("max-turns", turns.to_string());
    }
    if let Some(cost) = spec.budget.cost_usd {
        add(
            "max-budget-usd",
            cost.to_string().trim_start_matches('$').to_owned(),
        );
    }
    if let Some(file) = &files.system_prompt {
        add("system-prompt-file", file.display().to_string());
    }
    if let Some(conversation) = &spec.resume {
        add("resume", conversation.to_string());
    }
    arguments
}
