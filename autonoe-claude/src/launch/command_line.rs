//! Command line and environment of Claude Code, and the memory files of the project.

use std::collections::BTreeMap;
use std::ffi::OsString;
use std::fs;
use std::path::{Path, PathBuf};

use autonoe_backend::{SessionDirectory, add_session_environment};
use autonoe_core::SessionSpec;
use autonoe_process::add_git_setting;

use super::{ClaudeOptions, ConfigFolder, OfferedTools, SettingSources, Settings};

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

/// Set for every session: commands from the root of the project, no traffic but model calls, and
/// times in UTC.
const ALWAYS: &[(&str, &str)] = &[
    // Otherwise a `cd` applies to all further commands, and the Bash policy, which judges each
    // command from the root of the project, denies the `cd` back.
    ("CLAUDE_BASH_MAINTAIN_PROJECT_WORKING_DIR", "1"),
    ("CLAUDE_CODE_ENTRYPOINT", "autonoe"),
    // The program then reports when it is idle, so the end of a session is not a guess.
    ("CLAUDE_CODE_EMIT_SESSION_STATE_EVENTS", "1"),
    ("CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC", "1"),
    // Both builds then have `TodoWrite`, instead of a tool per change of the list.
    ("CLAUDE_CODE_ENABLE_TASKS", "false"),
    ("CLAUDE_CODE_ENABLE_TODO_TOOLS", "1"),
    ("DISABLE_AUTOUPDATER", "1"),
    ("DISABLE_ERROR_REPORTING", "1"),
    ("DISABLE_TELEMETRY", "1"),
    ("TZ", "UTC"),
];

/// The folders of a session.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Folders<'a> {
    /// The folder for files of the program, which agents do not write to.
    pub(crate) own: &'a Path,
    /// The folder for temporary files.
    pub(crate) temporary: &'a Path,
}

impl<'a> Folders<'a> {
    pub(crate) fn new(session_dir: &'a SessionDirectory) -> Self {
        Self {
            own: session_dir.path(),
            temporary: session_dir.temporary(),
        }
    }
}

/// Returns the environment for one session with these `folders`.
///
/// `git_excludes` is the excludes file of Git, for a session in the sandbox of Claude Code.
pub(super) fn environment(
    options: &ClaudeOptions,
    spec: &SessionSpec,
    folders: Folders<'_>,
    git_excludes: Option<&Path>,
) -> BTreeMap<OsString, OsString> {
    let mut environment = bare_environment(options, folders);
    if has_memory(options, spec) {
        let name = "CLAUDE_CODE_ADDITIONAL_DIRECTORIES_CLAUDE_MD";
        environment.insert(name.into(), "1".into());
    }
    add_session_environment(&mut environment, spec);
    if let Some(file) = git_excludes {
        add_git_setting(&mut environment, "core.excludesFile", file);
    }
    environment
}

/// Returns the environment of the program for a probe.
pub(crate) fn bare_environment(
    options: &ClaudeOptions,
    folders: Folders<'_>,
) -> BTreeMap<OsString, OsString> {
    let mut environment = options.program.environment.clone();
    // With this variable, the program considers itself a tool of another Claude Code.
    environment.remove(&OsString::from("CLAUDECODE"));
    let mut set = |name: &str, value: OsString| environment.insert(name.into(), value);
    for (name, value) in ALWAYS {
        set(name, (*value).into());
    }
    for name in ["TMPDIR", "CLAUDE_CODE_TMPDIR"] {
        set(name, folders.temporary.into());
    }
    match &options.config {
        ConfigFolder::User => {}
        ConfigFolder::PerSession => {
            set("CLAUDE_CONFIG_DIR", folders.own.join("config").into());
        }
        ConfigFolder::Persistent(folder) => {
            set("CLAUDE_CONFIG_DIR", folder.clone().into());
        }
    }
    environment
}

/// Maximum nesting depth of rule directories.
const MAX_DEPTH: usize = 8;

/// Returns whether Claude Code loads the memory files of the project.
///
/// It would load them together with the project's settings, whose hooks run outside the gate. So the
/// project is passed as an additional directory, from which only memory is loaded.
pub(super) fn has_memory(options: &ClaudeOptions, spec: &SessionSpec) -> bool {
    let is_requested = spec.project_memory && options.setting_sources == SettingSources::None;
    is_requested && is_contained(&spec.cwd)
}

/// Returns whether no memory file is a symbolic link out of the project.
///
/// An agent could otherwise link a private file, which the next session would send to the model.
fn is_contained(project: &Path) -> bool {
    let Ok(root) = project.canonicalize() else {
        return false;
    };
    let folder = project.join(".claude");
    let files = [project.join("CLAUDE.md"), folder.join("CLAUDE.md")];
    let is_inside = files.iter().all(|file| resolves_into(file, &root))
        && rules_resolve_into(&folder.join("rules"), &root, MAX_DEPTH);
    if !is_inside {
        tracing::warn!(
            project = %project.display(),
            "the memory files of the project are not loaded: one is a symlink to a file outside \
             the project"
        );
    }
    is_inside
}

fn rules_resolve_into(rules: &Path, root: &Path, depth: usize) -> bool {
    let Ok(entries) = fs::read_dir(rules) else {
        return true;
    };
    resolves_into(rules, root)
        && depth > 0
        && entries.flatten().all(|entry| {
            let path = entry.path();
            resolves_into(&path, root) && rules_resolve_into(&path, root, depth - 1)
        })
}

/// Returns whether `path` is in `root` once links are followed. A missing file is.
fn resolves_into(path: &Path, root: &Path) -> bool {
    path.canonicalize().is_ok_and(|path| path.starts_with(root)) || !path.exists()
}

#[cfg(test)]
mod tests {
    use std::os::unix::fs::symlink;

    use super::*;

    #[test]
    fn memory_is_loaded_unless_a_symlink_points_out_of_the_project() {
        for (link, target, is_contained_there) in [
            ("CLAUDE.md", "AGENTS.md", true),
            ("CLAUDE.md", "missing.md", true),
            ("CLAUDE.md", "../secret", false),
            (".claude/CLAUDE.md", "../../secret", false),
            (".claude/rules/a.md", "../../../secret", false),
            (".claude/rules/deep/a.md", "../../../../secret", false),
            (".claude/rules/deep/b", "../../../../folder", false),
            (".claude/rules/deep/b", "..", false),
        ] {
            let folder = tempfile::tempdir().expect("a directory");
            let project = folder.path().join("project");
            fs::create_dir_all(project.join(".claude/rules/deep")).expect("directories");
            fs::create_dir(folder.path().join("folder")).expect("a directory");
            fs::write(folder.path().join("secret"), "x").expect("a file");
            fs::write(project.join("AGENTS.md"), "x").expect("a file");
            symlink(target, project.join(link)).expect("a link");

            assert_eq!(
                is_contained(&project),
                is_contained_there,
                "{link} -> {target}"
            );
        }
    }
}
