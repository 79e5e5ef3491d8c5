//! Guard of the folders that only Autonoe writes to.

use std::path::{Path, PathBuf};

use async_trait::async_trait;
use serde_json::Value;

use super::file_name::{components, spells};
use super::ledger_command::could_change_autonoe;
use super::name_spelling::text_touches_autonoe;
use crate::domain::Mode;
use crate::port::lexical_path::meanings::{Meanings, both_forms};
use crate::port::lexical_path::normalise;
use crate::port::lexical_path::percent::percent_decoded;
use crate::port::lexical_path::visible::visible;
use crate::port::{HookDecision, PreToolUseHook, ProjectPaths, ToolCall, ToolKind};

/// Blocks every call that can write to `.autonoe/`, where the ledger is, or to `.harness/`, where fleets keep
/// their state.
///
/// Agents change the ledger through the autonoe tools only. In a sync run, the
/// one file that may be written is `.autonoe-note.md` of the project.
///
/// Reading is open. In a shell command, only commands that read may get to see the name `.autonoe`, and a
/// command that the parser does not understand is blocked. A tool whose effects are unknown must not
/// mention the directory at all. The Bash policy protects `.harness` from shell commands. A member of
/// a fleet may write to its own worktree, which is in `.harness`.
///
/// ```
/// use autonoe_core::{AutonoeGuard, HookDecision, PreToolUseHook, ProjectPaths, ToolCall};
/// use serde_json::json;
///
/// # tokio::runtime::Builder::new_current_thread().build().unwrap().block_on(async {
/// let project_paths = ProjectPaths::new("/srv/project");
/// let guard = AutonoeGuard::new(project_paths.clone());
/// let bash = |command: &str| ToolCall::new("Bash", json!({"command": command}));
///
/// assert_eq!(guard.check(&bash("cat .autonoe/status.json"), &project_paths).await, HookDecision::Pass);
/// assert!(matches!(guard.check(&bash("rm -r .auto*"), &project_paths).await, HookDecision::Block { .. }));
/// # });
/// ```
#[derive(Clone, Debug)]
pub struct AutonoeGuard {
    project_paths: ProjectPaths,
}

/// Where the ledger is.
const DIRECTORY: &str = ".autonoe";

/// Where fleets keep their state.
const FLEETS: &str = ".harness";

/// What a sync run may write.
const NOTE: &str = ".autonoe-note.md";

/// The MCP server of the autonoe tools.
pub(super) const SERVER: &str = "autonoe";

/// Tools that write no files: what they are told is only talk.
pub(super) const TALKERS: [&str; 4] = ["TodoWrite", "Task", "WebSearch", "WebFetch"];

impl AutonoeGuard {
    /// Makes a guard for the project of `project_paths`.
    pub fn new(project_paths: ProjectPaths) -> Self {
        Self { project_paths }
    }

    fn judge(&self, call: &ToolCall) -> Result<(), String> {
        match &call.kind {
            ToolKind::Write { paths } => self.judge_write(paths, call),
            ToolKind::Shell { command } => {
                judge_command(command)?;
                self.judge_directory(call)
            }
            kind if kind.certain_server() == Some(SERVER) => Ok(()),
            ToolKind::Other if TALKERS.contains(&call.name.as_str()) => Ok(()),
            ToolKind::Mcp { .. } | ToolKind::Other
                if any_text(&call.input, &text_touches_autonoe) =>
            {
                Err(format!(
                    "{} must not be used on {DIRECTORY}/; use the autonoe tools to change deliverables",
                    call.name
                ))
            }
            ToolKind::Mcp { .. } | ToolKind::Other
                if names_fleets(&call.input, &self.project_paths) =>
            {
                Err(format!(
                    "{} must not be used on {FLEETS}/, where fleets keep their state; use it on other \
                     files of the project",
                    call.name
                ))
            }
            ToolKind::Mcp { .. }
            | ToolKind::Other
            | ToolKind::Read { .. }
            | ToolKind::Fetch { .. }
            | ToolKind::Malformed { .. } => Ok(()),
        }
    }

    fn judge_write(&self, paths: &[PathBuf], call: &ToolCall) -> Result<(), String> {
        if paths.is_empty() {
            return Err(format!(
                "{} does not say which files it touches; name them",
                call.name
            ));
        }
        let project = both_forms(&self.project_paths.project);
        for path in paths {
            let meanings = self.meanings(path, call)?;
            if names_directory(path, &project, DIRECTORY) || self.is_in(DIRECTORY, &meanings) {
                return Err(format!(
                    "{path:?} is in {DIRECTORY}/, which is not written directly; use the autonoe \
                     tools to change deliverables"
                ));
            }
            if names_directory(path, &project, FLEETS) || self.is_in(FLEETS, &meanings) {
                return Err(format!(
                    "{path:?} is in {FLEETS}/, where fleets keep their state; write to other files of \
                     the project"
                ));
            }
            let note: Vec<_> = project.iter().map(|project| project.join(NOTE)).collect();
            let only_the_note = !meanings.in_unknown_home
                && meanings.places.iter().all(|place| note.contains(place));
            if call.mode == Mode::Sync && !only_the_note {
                return Err(format!(
                    "a sync run writes nothing but {NOTE} of the project; note what you found \
                     there, and use the autonoe tools to change deliverables"
                ));
            }
        }
        Ok(())
    }

    /// Judges the directory that a shell command runs in: its relative paths start there.
    fn judge_directory(&self, call: &ToolCall) -> Result<(), String> {
        let meanings = self.meanings(Path::new("."), call)?;
        let mut directories = ProjectPaths::STATE_FOLDERS.into_iter();
        match directories.find(|directory| self.is_in(directory, &meanings)) {
            Some(directory) => Err(format!(
                "commands do not run in {directory}/; run them in the project"
            )),
            None => Ok(()),
        }
    }

    fn meanings(&self, path: &Path, call: &ToolCall) -> Result<Meanings, String> {
        Meanings::of(path, call, &self.project_paths).map_err(|error| {
            format!("{path:?} cannot be followed ({error}); use a path without such links")
        })
    }

    fn is_in(&self, directory: &str, meanings: &Meanings) -> bool {
        let project = both_forms(&self.project_paths.project);
        let own = both_forms(&self.project_paths.project.join(directory));
        meanings.places.iter().any(|place| {
            names_directory(place, &project, directory)
                || own.iter().any(|own| place.starts_with(own))
        })
    }
}

/// Judges the text of a shell command.
fn judge_command(command: &str) -> Result<(), String> {
    match could_change_autonoe(command) {
        Ok(false) => Ok(()),
        Ok(true) => Err(format!(
            "this command could change {DIRECTORY}/; use the autonoe tools to change \
             deliverables, or read it with a command such as \"cat {DIRECTORY}/status.json\""
        )),
        Err(error) => Err(format!(
            "this command could change {DIRECTORY}/, because it is not understood: {error}; \
             write it more simply"
        )),
    }
}

/// Returns whether `path` has `directory` as a component below the project, or anywhere when it is
/// outside: a project may itself be inside some `.autonoe`, and a worktree of a fleet is inside of `.harness`.
fn names_directory(path: &Path, project: &[PathBuf], directory: &str) -> bool {
    let below = project
        .iter()
        .find_map(|project| path.strip_prefix(project).ok())
        .unwrap_or(path);
    components(&below.to_string_lossy()).any(|component| spells(component, directory))
}

/// Returns whether any text in `input` is a path into the folder of fleets.
fn names_fleets(input: &Value, project_paths: &ProjectPaths) -> bool {
    let project = both_forms(&project_paths.project);
    let is_path_there = |text: &str| {
        let text = percent_decoded(&visible(text));
        let text = text.strip_prefix("file://").unwrap_or(&text);
        let path = normalise(&project_paths.project.join(text));
        names_directory(&path, &project, FLEETS)
    };
    any_text(input, &is_path_there)
}

/// Returns whether `holds` for a text in `input`.
fn any_text(input: &Value, holds: &impl Fn(&str) -> bool) -> bool {
    match input {
        Value::String(text) => holds(text),
        Value::Array(items) => items.iter().any(|item| any_text(item, holds)),
        Value::Object(fields) => fields
            .iter()
            .any(|(key, value)| holds(key) || any_text(value, holds)),
        Value::Null | Value::Bool(_) | Value::Number(_) => false,
    }
}

#[async_trait]
impl PreToolUseHook for AutonoeGuard {
    fn name(&self) -> &str {
        "autonoe-protection"
    }

    async fn check(&self, call: &ToolCall, _: &ProjectPaths) -> HookDecision {
        match self.judge(call) {
            Ok(()) => HookDecision::Pass,
            Err(reason) => HookDecision::block(reason),
        }
    }
}

#[cfg(test)]
mod tests;
