//! [`Grants`], the list of permission rules of an agent.

#[cfg(test)]
mod tests;

use std::path::Path;
use std::sync::{Arc, LazyLock};

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::rule::{PermissionRule, touched_paths};
use super::url_pattern::Url;
use crate::gate::ProjectPaths;
use crate::time::Mode;
use crate::tool::{ToolCall, ToolKind, Toolbox};

/// Permissions of an agent: a list of [permission rules](PermissionRule).
///
/// Rules only permit. A call that no rule covers is denied, and a call that a guard blocks stays
/// blocked, whatever is granted here.
///
/// ```
/// use autonoe_core::gate::{Grants, ProjectPaths};
/// use autonoe_core::{Mode, ToolCall};
/// use serde_json::json;
///
/// let grants = Grants::baseline(Mode::Run)
///     .with_tool("Task")
///     .with_rule("WebFetch(domain:docs.rs)".parse()?);
/// let project_paths = ProjectPaths::new("/srv/project");
/// let fetch = |url: &str| ToolCall::new("WebFetch", json!({"url": url}));
///
/// assert_eq!(
///     grants.granting_rule(&fetch("https://docs.rs/tokio"), &project_paths).as_deref(),
///     Some("WebFetch(domain:docs.rs)"),
/// );
/// assert_eq!(grants.granting_rule(&fetch("https://docs.rs.evil.com"), &project_paths), None);
/// # Ok::<(), autonoe_core::gate::InvalidRule>(())
/// ```
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(transparent)]
pub struct Grants(Vec<Arc<PermissionRule>>);

impl Grants {
    /// Creates an empty list, which grants nothing.
    pub fn none() -> Self {
        Self::default()
    }

    /// Creates the list with the rules that every run of `mode` needs.
    pub fn baseline(mode: Mode) -> Self {
        static BASELINES: LazyLock<[Grants; 2]> = LazyLock::new(|| {
            [RUN, SYNC].map(|rules| {
                let rules = rules.iter().filter_map(|text| text.parse().ok());
                Grants::none().with_rules(rules)
            })
        });
        let [run, sync] = &*BASELINES;
        match mode {
            Mode::Run => run.clone(),
            Mode::Sync => sync.clone(),
        }
    }

    /// Adds `rule`.
    #[must_use]
    pub fn with_rule(mut self, rule: PermissionRule) -> Self {
        if self.rules().all(|known| *known != rule) {
            self.0.push(Arc::new(rule));
        }
        self
    }

    /// Adds all tools of `toolbox`.
    #[must_use]
    pub fn with_toolbox(self, toolbox: &Toolbox) -> Self {
        toolbox.definitions().fold(self, |grants, tool| {
            grants.with_tool(Toolbox::qualified_name(&tool.name))
        })
    }

    /// Adds each of `rules`.
    #[must_use]
    pub fn with_rules(self, rules: impl IntoIterator<Item = PermissionRule>) -> Self {
        rules.into_iter().fold(self, Self::with_rule)
    }

    /// Adds the tool `name`: `Task`, `mcp__server__tool`, `mcp__server__*`.
    ///
    /// A name that is not a valid [rule](PermissionRule) cannot name a tool and grants nothing.
    #[must_use]
    pub fn with_tool(self, name: impl AsRef<str>) -> Self {
        match name.as_ref().parse() {
            Ok(rule) => self.with_rule(rule),
            Err(error) => {
                tracing::warn!(%error, "invalid tool name; nothing is granted");
                self
            }
        }
    }

    /// Returns the rules in the order in which they were added.
    pub fn rules(&self) -> impl Iterator<Item = &PermissionRule> {
        self.0.iter().map(AsRef::as_ref)
    }

    /// Returns the rule that grants `call`, for reports, or `None` if there is none.
    ///
    /// The paths of a call may be granted by several rules. In that case, the result names all of
    /// them.
    pub fn granting_rule(&self, call: &ToolCall, project_paths: &ProjectPaths) -> Option<String> {
        if let Some(rule) = self.rules().find(|rule| rule.covers(call, project_paths)) {
            return Some(rule.to_string());
        }
        let paths = touched_paths(call).filter(|paths| !paths.is_empty())?;
        let mut by: Vec<&str> = Vec::new();
        for path in paths {
            let rule = self.covering_path(path, call, project_paths)?;
            if !by.contains(&rule.as_str()) {
                by.push(rule.as_str());
            }
        }
        Some(by.join(" and "))
    }

    /// Returns the setting that would grant `call`; `None` if no setting does.
    pub(in crate::gate) fn remedy(call: &ToolCall) -> Option<String> {
        if Toolbox::tool_name(&call.name).is_some() {
            return None;
        }
        let rule = match &call.kind {
            ToolKind::Fetch { url } => format!("WebFetch(domain:{})", Url::parse(url)?.host),
            ToolKind::Mcp { .. } | ToolKind::Other => call.name.clone(),
            ToolKind::Shell { .. }
            | ToolKind::Write { .. }
            | ToolKind::Read { .. }
            | ToolKind::Malformed { .. } => return None,
        };
        let rule: PermissionRule = rule.parse().ok()?;
        let permissions = serde_json::json!({ "allow": [rule] });
        Some(format!(
            "add \"permissions\": {permissions} to .autonoe/agent.json"
        ))
    }

    fn covering_path(
        &self,
        path: &Path,
        call: &ToolCall,
        project_paths: &ProjectPaths,
    ) -> Option<&PermissionRule> {
        self.rules()
            .find(|rule| rule.covers_path(path, call, project_paths))
    }
}

/// Rules of a run that implements deliverables.
///
/// Reads are open everywhere, because the file scope guard protects what must not be read. Shell
/// commands are open, because the Bash policy checks each of them. Writes are limited to the
/// project and `/tmp`, where the file scope guard protects the directories of sessions.
const RUN: &[&str] = &[
    "Read(./**)",
    "Glob(./**)",
    "Grep(./**)",
    "Read(/**)",
    "TodoWrite",
    "TaskOutput",
    "TaskStop",
    "Bash(*)",
    "Write(./**)",
    "Edit(./**)",
    "Write(/tmp/**)",
    "Edit(/tmp/**)",
];

/// Rules of a sync, which reads the project and only writes the note for the next session.
const SYNC: &[&str] = &[
    "Read(./**)",
    "Glob(./**)",
    "Grep(./**)",
    "Read(/**)",
    "TodoWrite",
    "TaskOutput",
    "TaskStop",
    "Bash(*)",
    "Write(./.autonoe-note.md)",
    "Edit(./.autonoe-note.md)",
];

#[cfg(test)]
mod baseline_tests {
    use super::super::grants::*;
    use crate::gate::permission::PermissionRule;

    #[test]
    fn every_rule_of_the_baseline_is_valid() {
        for text in RUN.iter().chain(SYNC) {
            assert!(text.parse::<PermissionRule>().is_ok(), "{text}");
        }
    }
}
