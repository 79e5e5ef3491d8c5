//! [`AutonoeGuard`], which blocks writes to `.autonoe/` and `.harness/`.

use std::path::{Path, PathBuf};

use async_trait::async_trait;
use serde_json::Value;

use super::PathGuard;
use super::file_name::{components, is_spelling_of};
use super::ledger_command::could_change_autonoe;
use super::name_spelling::text_touches_autonoe;
use crate::gate::lexical_path::path_candidates::PathCandidates;
use crate::gate::lexical_path::resolver::Resolver;
use crate::gate::lexical_path::{normalise, percent_decoded, strip_invisible};
use crate::gate::{HookDecision, PreToolUseHook, ProjectPaths};
use crate::time::Mode;
use crate::tool::{ToolCall, ToolKind};

/// Blocks every call that can write to `.autonoe/`, which holds the ledger, or to `.harness/`,
/// which holds the state of fleets.
///
/// Agents may change the ledger only through the autonoe tools. In a sync run, the only writable
/// file is `.autonoe-note.md` of the project.
///
/// Reading is allowed. In a shell command, only read-only commands may mention the name `.autonoe`,
/// and a command that the parser does not understand is blocked. A tool with unknown effects must
/// not mention the directory at all. The Bash policy protects `.harness` from shell commands. A
/// member of a fleet may write to its own worktree, which is in `.harness`.
///
/// ```
/// use autonoe_core::gate::{AutonoeGuard, ProjectPaths};
/// use autonoe_core::{HookDecision, PreToolUseHook, ToolCall};
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

/// Directory of the ledger.
const DIRECTORY: &str = ".autonoe";

/// Directory of the state of fleets.
const FLEETS: &str = ".harness";

/// The only file that a sync run may write.
const NOTE: &str = ".autonoe-note.md";

/// MCP server of the autonoe tools.
pub(super) const SERVER: &str = "autonoe";

/// Tools that write no files, so their input may mention the directories.
pub(super) const NON_WRITING_TOOLS: [&str; 4] = ["TodoWrite", "Task", "WebSearch", "WebFetch"];

impl AutonoeGuard {
    /// Creates a guard for the project of `project_paths`.
    pub fn new(project_paths: ProjectPaths) -> Self {
        Self { project_paths }
    }

    pub(super) fn evaluate(&self, call: &ToolCall, resolver: &Resolver) -> Result<(), String> {
        match &call.kind {
            ToolKind::Write { paths } => self.judge_write(paths, call, resolver),
            ToolKind::Shell { command } => {
                judge_command(command)?;
                self.judge_directory(call, resolver)
            }
            kind if kind.unambiguous_server() == Some(SERVER) => Ok(()),
            ToolKind::Other if NON_WRITING_TOOLS.contains(&call.name.as_str()) => Ok(()),
            ToolKind::Mcp { .. } | ToolKind::Other
                if any_text(&call.input, &text_touches_autonoe) =>
            {
                Err(format!(
                    "{} must not be used on {DIRECTORY}/; use the autonoe tools to change deliverables",
                    call.name
                ))
            }
            ToolKind::Mcp { .. } | ToolKind::Other
                if names_fleets(&call.input, &self.project_paths, resolver) =>
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

    fn judge_write(
        &self,
        paths: &[PathBuf],
        call: &ToolCall,
        resolver: &Resolver,
    ) -> Result<(), String> {
        if paths.is_empty() {
            return Err(format!(
                "{} does not say which files it touches; name them",
                call.name
            ));
        }
        let project = resolver.lexical_and_resolved(&self.project_paths.project);
        for path in paths {
            let candidates = self.candidates(path, call, resolver)?;
            if names_directory(path, &project, DIRECTORY)
                || self.is_in(DIRECTORY, &candidates, resolver)
            {
                return Err(format!(
                    "{path:?} is in {DIRECTORY}/, which only Autonoe writes; use the autonoe \
                     tools to change deliverables"
                ));
            }
            if names_directory(path, &project, FLEETS) || self.is_in(FLEETS, &candidates, resolver)
            {
                return Err(format!(
                    "{path:?} is in {FLEETS}/, where fleets keep their state; write to other files of \
                     the project"
                ));
            }
            let note: Vec<_> = project.iter().map(|project| project.join(NOTE)).collect();
            let only_the_note = !candidates.in_unknown_home
                && candidates.paths.iter().all(|place| note.contains(place));
            if call.mode == Mode::Sync && !only_the_note {
                return Err(format!(
                    "a sync run may only write to {NOTE} of the project; write your findings \
                     there, and use the autonoe tools to change deliverables"
                ));
            }
        }
        Ok(())
    }

    /// Checks the working directory of a shell command, where its relative paths start.
    fn judge_directory(&self, call: &ToolCall, resolver: &Resolver) -> Result<(), String> {
        let candidates = self.candidates(Path::new("."), call, resolver)?;
        let mut directories = ProjectPaths::STATE_FOLDERS.into_iter();
        match directories.find(|directory| self.is_in(directory, &candidates, resolver)) {
            Some(directory) => Err(format!(
                "commands must not run in {directory}/; run them in the project"
            )),
            None => Ok(()),
        }
    }

    fn candidates(
        &self,
        path: &Path,
        call: &ToolCall,
        resolver: &Resolver,
    ) -> Result<PathCandidates, String> {
        PathCandidates::locate(path, call, &self.project_paths, resolver).map_err(|error| {
            format!("{path:?} cannot be resolved ({error}); use a path without such links")
        })
    }

    fn is_in(&self, directory: &str, candidates: &PathCandidates, resolver: &Resolver) -> bool {
        let project = resolver.lexical_and_resolved(&self.project_paths.project);
        let own = resolver.lexical_and_resolved(&self.project_paths.project.join(directory));
        candidates.paths.iter().any(|place| {
            names_directory(place, &project, directory)
                || own.iter().any(|own| place.starts_with(own))
        })
    }
}

/// Checks the text of a shell command.
fn judge_command(command: &str) -> Result<(), String> {
    match could_change_autonoe(command) {
        Ok(false) => Ok(()),
        Ok(true) => Err(format!(
            "this command could change {DIRECTORY}/; use the autonoe tools to change \
             deliverables, or read it with a command such as \"cat {DIRECTORY}/status.json\""
        )),
        Err(error) => Err(format!(
            "this command could change {DIRECTORY}/, because it cannot be parsed: {error}; \
             write a simpler command"
        )),
    }
}

/// Returns whether `path` has `directory` as a component below the project, or anywhere if the path
/// is outside of the project. A project may itself be inside a `.autonoe`, and a worktree of a
/// fleet is inside of `.harness`.
fn names_directory(path: &Path, project: &[PathBuf], directory: &str) -> bool {
    let below = project
        .iter()
        .find_map(|project| path.strip_prefix(project).ok())
        .unwrap_or(path);
    components(&below.to_string_lossy()).any(|component| is_spelling_of(component, directory))
}

/// Returns whether any text in `input` is a path into the directory of fleets.
fn names_fleets(input: &Value, project_paths: &ProjectPaths, resolver: &Resolver) -> bool {
    let project = resolver.lexical_and_resolved(&project_paths.project);
    let is_path_there = |text: &str| {
        let text = percent_decoded(&strip_invisible(text));
        let text = text.strip_prefix("file://").unwrap_or(&text);
        let path = normalise(&project_paths.project.join(text));
        names_directory(&path, &project, FLEETS)
    };
    any_text(input, &is_path_there)
}

/// Returns whether `holds` is true for any text in `input`.
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
        PathGuard::Autonoe(self).judge(call, &Resolver::default())
    }

    fn as_path_guard(&self) -> Option<PathGuard<'_>> {
        Some(PathGuard::Autonoe(self))
    }
}

#[cfg(test)]
mod tests;
