//! The guard of `.autonoe/`.

use std::path::{Path, PathBuf};

use async_trait::async_trait;
use serde_json::Value;

use super::file_name::{components, spells};
use super::shell_command::{could_change_autonoe, text_touches_autonoe};
use crate::domain::Mode;
use crate::port::lexical_path::meanings::{Meanings, both_forms};
use crate::port::{HookDecision, Places, PreToolUseHook, ToolCall, ToolKind};

/// Blocks every call that can write to `.autonoe/`, where the ledger is.
///
/// Agents change the ledger through the autonoe tools only. In a sync run, the
/// one file that may be written is `.autonoe-note.md` of the project.
///
/// Reading is open. A shell command that mentions the directory must plainly
/// only read; a tool that nobody knows must not mention it at all.
///
/// ```
/// use autonoe_core::{AutonoeGuard, HookDecision, Places, PreToolUseHook, ToolCall};
/// use serde_json::json;
///
/// # tokio::runtime::Builder::new_current_thread().build().unwrap().block_on(async {
/// let guard = AutonoeGuard::new(Places::new("/srv/project"));
/// let bash = |command: &str| ToolCall::new("Bash", json!({"command": command}));
///
/// assert_eq!(guard.check(&bash("cat .autonoe/status.json")).await, HookDecision::Pass);
/// assert!(matches!(guard.check(&bash("rm -r .auto*")).await, HookDecision::Block { .. }));
/// # });
/// ```
#[derive(Clone, Debug)]
pub struct AutonoeGuard {
    places: Places,
}

/// The directory that agents do not write to.
const DIRECTORY: &str = ".autonoe";

/// What a sync run may write.
const NOTE: &str = ".autonoe-note.md";

/// The MCP server of the autonoe tools.
const SERVER: &str = "autonoe";

/// Tools that write no files: what they are told is only talk.
const TALKERS: [&str; 4] = ["TodoWrite", "Task", "WebSearch", "WebFetch"];

impl AutonoeGuard {
    /// Makes a guard for the project of `places`.
    pub fn new(places: Places) -> Self {
        Self { places }
    }

    fn judge(&self, call: &ToolCall) -> Result<(), String> {
        match &call.kind {
            ToolKind::Write { paths } => self.judge_write(paths, call),
            ToolKind::Shell { command } if could_change_autonoe(command) => Err(format!(
                "this command could change {DIRECTORY}/; use the autonoe tools to change \
                 deliverables, or read it with one plain command such as \
                 \"cat {DIRECTORY}/status.json\""
            )),
            ToolKind::Shell { .. } => self.judge_directory(call),
            kind if kind.certain_server() == Some(SERVER) => Ok(()),
            ToolKind::Other if TALKERS.contains(&call.name.as_str()) => Ok(()),
            ToolKind::Mcp { .. } | ToolKind::Other if mentions(&call.input) => Err(format!(
                "{} must not be used on {DIRECTORY}/; use the autonoe tools to change deliverables",
                call.name
            )),
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
        let project = both_forms(&self.places.project);
        for path in paths {
            let meanings = self.meanings(path, call)?;
            if names_directory(path, &project) || self.in_ledger(&meanings) {
                return Err(format!(
                    "{path:?} is in {DIRECTORY}/, which is not written directly; use the autonoe \
                     tools to change deliverables"
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
        if self.in_ledger(&self.meanings(Path::new("."), call)?) {
            return Err(format!(
                "commands do not run in {DIRECTORY}/; run them in the project"
            ));
        }
        Ok(())
    }

    fn meanings(&self, path: &Path, call: &ToolCall) -> Result<Meanings, String> {
        Meanings::of(path, call, &self.places).map_err(|error| {
            format!("{path:?} cannot be followed ({error}); use a path without such links")
        })
    }

    fn in_ledger(&self, meanings: &Meanings) -> bool {
        let project = both_forms(&self.places.project);
        let ledger = both_forms(&self.places.project.join(DIRECTORY));
        meanings.places.iter().any(|place| {
            names_directory(place, &project) || ledger.iter().any(|own| place.starts_with(own))
        })
    }
}

/// Tells whether `path` has the directory as a component below the project, or anywhere when it is
/// outside: a project may itself be inside some `.autonoe`.
fn names_directory(path: &Path, project: &[PathBuf]) -> bool {
    let below = project
        .iter()
        .find_map(|project| path.strip_prefix(project).ok())
        .unwrap_or(path);
    components(&below.to_string_lossy()).any(|component| spells(component, DIRECTORY))
}

/// Tells whether any text in `input` mentions the directory.
fn mentions(input: &Value) -> bool {
    match input {
        Value::String(text) => text_touches_autonoe(text),
        Value::Array(items) => items.iter().any(mentions),
        Value::Object(fields) => fields
            .iter()
            .any(|(key, value)| text_touches_autonoe(key) || mentions(value)),
        Value::Null | Value::Bool(_) | Value::Number(_) => false,
    }
}

#[async_trait]
impl PreToolUseHook for AutonoeGuard {
    fn name(&self) -> &str {
        "autonoe-protection"
    }

    async fn check(&self, call: &ToolCall) -> HookDecision {
        match self.judge(call) {
            Ok(()) => HookDecision::Pass,
            Err(reason) => HookDecision::block(reason),
        }
    }
}

#[cfg(test)]
mod tests;
