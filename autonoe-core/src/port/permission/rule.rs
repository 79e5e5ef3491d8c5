//! One permission rule.

use std::fmt;
use std::path::{Path, PathBuf};
use std::str::FromStr;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::form::Form;
use super::path_pattern::PathPattern;
use crate::port::lexical_path::meanings::Meanings;
use crate::port::lexical_path::{Start, normalise, start_of};
use crate::port::{ProjectPaths, ToolCall, ToolKind};

/// A rule that grants some tool calls.
///
/// | Form | Covers |
/// |---|---|
/// | `Read(./**)` | reading these paths, by any tool |
/// | `Glob(./**)`, `Grep(./**)` | reading these paths, by the tool of that name |
/// | `Write(./**)`, `Edit(./**)` | creating, changing and removing these paths, by any tool |
/// | `Bash(*)` | every shell command |
/// | `Bash(npm run *)` | one simple command of that form, without shell control characters |
/// | `WebFetch(*)` | every address |
/// | `WebFetch(domain:example.com)` | a domain and those below it |
/// | `WebFetch(https://example.com/*)` | these addresses |
/// | `mcp__server`, `mcp__server__*` | every tool of an MCP server |
/// | `mcp__server__tool` | one tool of it |
/// | `Task` | the tool of that name, under any name that its vendor gave it |
///
/// Paths start at the project (`./src`, `src`), at the root (`/etc`, `//etc`)
/// or at the home (`~/notes`). In them `*` and `?` stay within a name and `**`
/// crosses directories. Anything that is not understood is an error.
///
/// ```
/// use autonoe_core::{PermissionRule, ProjectPaths, ToolCall};
/// use serde_json::json;
///
/// let rule: PermissionRule = "Write(./src/**)".parse()?;
/// let project_paths = ProjectPaths::new("/srv/project");
/// let write = |path: &str| ToolCall::new("Edit", json!({"file_path": path})).in_dir("/srv/project");
///
/// assert!(rule.covers(&write("src/main.rs"), &project_paths));
/// assert!(!rule.covers(&write("src/../Cargo.toml"), &project_paths));
/// assert!("Fly(./**)".parse::<PermissionRule>().is_err());
/// # Ok::<(), autonoe_core::InvalidRule>(())
/// ```
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(try_from = "String", into = "String")]
#[schemars(with = "String")]
pub struct PermissionRule {
    text: String,
    form: Form,
}

impl PermissionRule {
    /// Returns the rule as it was written.
    pub fn as_str(&self) -> &str {
        &self.text
    }

    /// Tells whether this rule alone covers `call` with all paths that it touches.
    ///
    /// Only the text of paths is looked at: where symlinks lead is for the
    /// guards, which no rule can overrule.
    pub fn covers(&self, call: &ToolCall, project_paths: &ProjectPaths) -> bool {
        self.form.covers(call)
            && match paths_of(call) {
                Some(paths) => self.names_a_tool() || covers_each(self, paths, call, project_paths),
                None => true,
            }
    }

    /// Tells whether `call` may do anything that the rule speaks of. For blocking.
    ///
    /// It errs on the other side than [`covers`](Self::covers): one path of many
    /// is enough, symlinks are followed, a search above a path counts, every part
    /// of a command line is looked at, and an address that cannot be read for
    /// certain counts.
    pub fn touches(&self, call: &ToolCall, project_paths: &ProjectPaths) -> bool {
        if !self.form.touches(call) {
            return false;
        }
        match (self.form.paths(), paths_of(call)) {
            (Some(pattern), Some(paths)) => {
                paths.is_empty()
                    || paths
                        .iter()
                        .any(|path| touches_path(pattern, path, call, project_paths))
            }
            _ => true,
        }
    }

    /// Tells whether the rule speaks of the user's home, which must then be known.
    pub fn needs_home(&self) -> bool {
        self.form.paths().is_some_and(PathPattern::needs_home)
    }

    /// Tells whether the rule covers `path` of `call`, whatever else the call touches.
    pub(super) fn covers_path(
        &self,
        path: &Path,
        call: &ToolCall,
        project_paths: &ProjectPaths,
    ) -> bool {
        self.form.covers(call)
            && self.form.covers_path(
                location(path, call, project_paths).as_deref(),
                project_paths,
            )
    }

    fn names_a_tool(&self) -> bool {
        matches!(self.form, Form::Tool(_))
    }
}

/// Returns the paths that `call` touches, or `None` when paths do not matter for its kind.
pub(super) fn paths_of(call: &ToolCall) -> Option<&[PathBuf]> {
    match &call.kind {
        ToolKind::Read { paths } | ToolKind::Write { paths } => Some(paths),
        ToolKind::Shell { .. }
        | ToolKind::Fetch { .. }
        | ToolKind::Mcp { .. }
        | ToolKind::Other
        | ToolKind::Malformed { .. } => None,
    }
}

// A call that does not say what it touches may touch anything.
fn covers_each(
    rule: &PermissionRule,
    paths: &[PathBuf],
    call: &ToolCall,
    project_paths: &ProjectPaths,
) -> bool {
    !paths.is_empty()
        && paths
            .iter()
            .all(|path| rule.covers_path(path, call, project_paths))
}

/// Tells whether `path` of `call` can mean anything that `pattern` speaks of.
fn touches_path(
    pattern: &PathPattern,
    path: &Path,
    call: &ToolCall,
    project_paths: &ProjectPaths,
) -> bool {
    let Ok(meanings) = Meanings::of(path, call, project_paths) else {
        return true;
    };
    let searches = ["Glob", "Grep", "LS"].contains(&call.name.as_str());
    meanings.in_unknown_home
        || meanings.places.iter().any(|place| {
            pattern.touches(place, project_paths)
                || ((searches || place.is_dir()) && pattern.reaches(place, project_paths))
        })
}

/// Returns where `path` of `call` is, or `None` when it is in a home that is not known.
fn location(path: &Path, call: &ToolCall, project_paths: &ProjectPaths) -> Option<PathBuf> {
    let absolute = match start_of(path) {
        Start::Here => project_paths.project.join(&call.cwd).join(path),
        Start::Home(rest) => project_paths.home.as_ref()?.join(rest),
        Start::OtherHome => return None,
    };
    Some(project_paths.without_link(normalise(&absolute)))
}

impl FromStr for PermissionRule {
    type Err = InvalidRule;

    fn from_str(text: &str) -> Result<Self, Self::Err> {
        match Form::parse(text) {
            Ok(form) => Ok(Self {
                text: text.to_owned(),
                form,
            }),
            Err(problem) => Err(InvalidRule {
                text: text.to_owned(),
                problem,
            }),
        }
    }
}

impl TryFrom<String> for PermissionRule {
    type Error = InvalidRule;

    fn try_from(text: String) -> Result<Self, Self::Error> {
        text.parse()
    }
}

impl From<PermissionRule> for String {
    fn from(rule: PermissionRule) -> Self {
        rule.text
    }
}

impl fmt::Display for PermissionRule {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.text)
    }
}

/// A text that is not a permission rule.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{text:?} is not a permission rule: {problem}")]
pub struct InvalidRule {
    text: String,
    problem: &'static str,
}

#[cfg(test)]
mod tests;
