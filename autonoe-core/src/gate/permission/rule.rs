//! [`PermissionRule`], a rule that grants tool calls.

use std::fmt;
use std::path::{Path, PathBuf};
use std::str::FromStr;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::form::Form;
use super::path_pattern::PathPattern;
use crate::gate::ProjectPaths;
use crate::gate::lexical_path::path_candidates::PathCandidates;
use crate::gate::lexical_path::resolver::Resolver;
use crate::gate::lexical_path::{Start, normalise, path_start};
use crate::tool::{ToolCall, ToolKind};

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
/// Paths start at the project (`./src`, `src`), at the root (`/etc`, `//etc`) or at the home
/// directory (`~/notes`). In paths, `*` and `?` match within a name and `**` crosses directories.
/// An unsupported rule is an error.
///
/// ```
/// use autonoe_core::gate::{PermissionRule, ProjectPaths};
/// use autonoe_core::ToolCall;
/// use serde_json::json;
///
/// let rule: PermissionRule = "Write(./src/**)".parse()?;
/// let project_paths = ProjectPaths::new("/srv/project");
/// let write = |path: &str| ToolCall::new("Edit", json!({"file_path": path})).in_dir("/srv/project");
///
/// assert!(rule.covers(&write("src/main.rs"), &project_paths));
/// assert!(!rule.covers(&write("src/../Cargo.toml"), &project_paths));
/// assert!("Fly(./**)".parse::<PermissionRule>().is_err());
/// # Ok::<(), autonoe_core::gate::InvalidRule>(())
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

    /// Returns whether this rule alone covers `call` with all paths that it touches.
    ///
    /// Only the text of paths is compared. The guards check where symlinks lead, and no rule can
    /// overrule them.
    pub fn covers(&self, call: &ToolCall, project_paths: &ProjectPaths) -> bool {
        self.form.covers(call)
            && match touched_paths(call) {
                Some(paths) => self.is_tool_name() || covers_each(self, paths, call, project_paths),
                None => true,
            }
    }

    /// Returns whether `call` may do anything that the rule applies to. Used for blocking.
    ///
    /// In doubt it matches, unlike [`covers`](Self::covers): one path of many is enough, symlinks
    /// are resolved, a search above a path counts, every part of a command line is checked, and an
    /// ambiguous URL counts.
    pub fn touches(&self, call: &ToolCall, project_paths: &ProjectPaths) -> bool {
        if !self.form.touches(call) {
            return false;
        }
        match (self.form.paths(), touched_paths(call)) {
            (Some(pattern), Some(paths)) => {
                paths.is_empty()
                    || paths
                        .iter()
                        .any(|path| touches_path(pattern, path, call, project_paths))
            }
            _ => true,
        }
    }

    /// Returns whether the rule refers to the home directory of the user, which must then be known.
    pub fn needs_home(&self) -> bool {
        self.form.paths().is_some_and(PathPattern::needs_home)
    }

    /// Returns whether the rule covers `path` of `call`, whatever else the call touches.
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

    fn is_tool_name(&self) -> bool {
        matches!(self.form, Form::Tool(_))
    }
}

/// Returns the paths that `call` touches, or `None` if paths do not matter for its kind.
pub(super) fn touched_paths(call: &ToolCall) -> Option<&[PathBuf]> {
    match &call.kind {
        ToolKind::Read { paths } | ToolKind::Write { paths } => Some(paths),
        ToolKind::Shell { .. }
        | ToolKind::Fetch { .. }
        | ToolKind::Mcp { .. }
        | ToolKind::Other
        | ToolKind::Malformed { .. } => None,
    }
}

// A call that does not declare its paths may touch anything.
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

/// Returns whether `path` of `call` can refer to anything that `pattern` matches.
fn touches_path(
    pattern: &PathPattern,
    path: &Path,
    call: &ToolCall,
    project_paths: &ProjectPaths,
) -> bool {
    let resolver = Resolver::default();
    let Ok(candidates) = PathCandidates::locate(path, call, project_paths, &resolver) else {
        return true;
    };
    let searches = ["Glob", "Grep", "LS"].contains(&call.name.as_str());
    candidates.in_unknown_home
        || candidates.paths.iter().any(|place| {
            pattern.touches(place, project_paths)
                || ((searches || place.is_dir()) && pattern.reaches(place, project_paths))
        })
}

/// Returns the location of `path` of `call`, or `None` if it is in an unknown home directory.
fn location(path: &Path, call: &ToolCall, project_paths: &ProjectPaths) -> Option<PathBuf> {
    let absolute = match path_start(path) {
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

/// Error: the text is not a valid permission rule.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{text:?} is not a permission rule: {problem}")]
pub struct InvalidRule {
    text: String,
    problem: &'static str,
}

#[cfg(test)]
mod tests;
