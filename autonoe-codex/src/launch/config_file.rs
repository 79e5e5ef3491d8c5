//! The configuration that a session has.

use std::collections::BTreeSet;
use std::fmt::Write;
use std::path::Path;

use super::CodexOptions;

/// What an unattended session does not have.
///
/// The first would wait forever on a dead network. The others offer the agent tools that nobody
/// is asked about, load code from elsewhere, or talk to services that a run does not need.
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
    // A command without a terminal has no input, so nothing can be typed into it.
    "unified_exec_tty",
    "view_image",
];

/// Returns the text of `config.toml` for a session in `cwd`.
pub(super) fn config_file(options: &CodexOptions, cwd: &Path) -> String {
    let mut text = String::new();
    let mut line = |parts: std::fmt::Arguments<'_>| {
        // Writing to a text does not fail.
        let _ = writeln!(text, "{parts}");
    };
    if options.provider.is_some() {
        line(format_args!("model_provider = \"autonoe\""));
    }
    line(format_args!("web_search = \"disabled\""));
    line(format_args!("check_for_update_on_startup = false"));
    // A conversation that nobody listens to any more is closed at once.
    line(format_args!("thread_unload_delay_secs = 0"));
    // The text of `AGENTS.md` is sent with each conversation, unless the run turns it off.
    line(format_args!("project_doc_max_bytes = 0"));
    // A login shell would run files of its home first, which an agent can write.
    line(format_args!("allow_login_shell = false"));
    // Newer models have sub-agents whatever the features say.
    line(format_args!("\n[agents]\nenabled = false"));
    // They would be written into the home of the program, which cannot be written in a sandbox.
    line(format_args!("\n[skills.bundled]\nenabled = false"));
    line(format_args!("\n[analytics]\nenabled = false"));
    line(format_args!("\n[history]\npersistence = \"none\""));
    line(format_args!("\n[features]"));
    for feature in OFF {
        line(format_args!("{feature} = false"));
    }
    // The only credentials in the environment of the program are those that its tools may have.
    line(format_args!("\n[shell_environment_policy]"));
    line(format_args!("inherit = \"all\""));
    line(format_args!("ignore_default_excludes = true"));
    if let Some(provider) = &options.provider {
        line(format_args!("\n[model_providers.autonoe]"));
        line(format_args!("name = \"the provider of this run\""));
        line(format_args!("base_url = {}", quoted(&provider.base_url)));
        line(format_args!("wire_api = \"responses\""));
        if let Some(retries) = provider.max_retries {
            line(format_args!("request_max_retries = {retries}"));
            line(format_args!("stream_max_retries = {retries}"));
        }
    }
    // Otherwise the program trusts the project by itself, and starts the servers and hooks that
    // files in it name. An agent can write such files.
    for project in places(cwd) {
        line(format_args!("\n[projects.{}]", quoted(&project)));
        line(format_args!("trust_level = \"untrusted\""));
    }
    text
}

/// Returns the project and all folders that it is in, by each of its names.
fn places(cwd: &Path) -> BTreeSet<String> {
    let canonical = cwd.canonicalize().ok();
    [Some(cwd), canonical.as_deref()]
        .into_iter()
        .flatten()
        .flat_map(Path::ancestors)
        .map(|path| path.to_string_lossy().into_owned())
        .collect()
}

/// Returns `text` as a string of TOML. Every string of JSON is one.
fn quoted(text: &str) -> String {
    serde_json::Value::from(text).to_string()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::launch::CodexProvider;

    #[test]
    fn a_project_is_not_trusted_and_the_key_is_not_in_the_file() {
        let options = CodexOptions::new("/opt/codex", []).with_provider(
            CodexProvider::new("http://[::1]:9/v1", "PASSE_PARTOUT").with_max_retries(2),
        );

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
