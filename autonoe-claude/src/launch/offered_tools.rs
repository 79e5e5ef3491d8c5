//! Built-in tools that a session offers to the agent.

use autonoe_core::gate::PermissionRule;
use autonoe_core::{SessionSpec, ToolKind};

use super::ClaudeOptions;

/// Tools of every session, unless the options name others.
const BASE: [&str; 6] = ["Read", "Write", "Edit", "Glob", "Grep", "Bash"];

/// Built-in tools that a session offers to the agent.
///
/// If the options name no tools, a session offers the base tools and every tool that a permission
/// rule names. The gate still decides about each call.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct OfferedTools {
    required: Vec<String>,
    /// A build may lack one of them: a rule can name a tool of another build.
    granted: Vec<String>,
}

impl OfferedTools {
    /// Returns the tools of a session.
    pub(crate) fn new(options: &ClaudeOptions, spec: &SessionSpec) -> Self {
        if let Some(tools) = &options.tools {
            return Self {
                required: tools.clone(),
                granted: Vec::new(),
            };
        }
        let mut granted = Vec::new();
        for tool in spec.gate.grants().rules().filter_map(built_in) {
            if !BASE.contains(&tool) && !granted.contains(&tool.to_owned()) {
                granted.push(tool.to_owned());
            }
        }
        Self {
            required: BASE.map(str::to_owned).into(),
            granted,
        }
    }

    /// Formats the tools as one argument.
    pub(super) fn to_argument(&self) -> String {
        let tools: Vec<_> = self.required.iter().chain(&self.granted).collect();
        let tools: Vec<_> = tools.into_iter().map(String::as_str).collect();
        tools.join(",")
    }

    /// Returns the tools that a session cannot work without.
    pub(crate) fn required(&self) -> &[String] {
        &self.required
    }

    /// Returns whether the session offers `tool`, by any of its names.
    pub(crate) fn contains(&self, tool: &str) -> bool {
        let name = ToolKind::canonical_name(tool);
        let mut offered = self.required.iter().chain(&self.granted);
        offered.any(|offered| ToolKind::canonical_name(offered) == name)
    }
}

/// Returns the built-in tool that `rule` names.
fn built_in(rule: &PermissionRule) -> Option<&str> {
    let tool = rule.as_str().split('(').next()?;
    (!tool.starts_with("mcp__")).then_some(tool)
}

#[cfg(test)]
mod tests {
    use autonoe_core::gate::{Gate, Grants, ProjectPaths};
    use autonoe_core::time::SessionKey;
    use autonoe_core::tool::Toolbox;
    use autonoe_core::{Mode, RunId};

    use super::*;

    fn offered(options: &ClaudeOptions, grants: Grants) -> OfferedTools {
        let key = SessionKey {
            run: RunId::new("run"),
            number: 1,
        };
        let gate = Gate::new(ProjectPaths::new("/srv/project"), grants);
        let spec = SessionSpec::new(key, "/srv/project", gate, Toolbox::new([]));
        OfferedTools::new(options, &spec)
    }

    #[test]
    fn a_session_offers_the_base_tools_and_tools_named_by_rules() {
        let options = ClaudeOptions::new("claude", []);
        for (grants, argument) in [
            (Grants::none(), "Read,Write,Edit,Glob,Grep,Bash"),
            (
                Grants::baseline(Mode::Run),
                "Read,Write,Edit,Glob,Grep,Bash,TodoWrite,TaskOutput,TaskStop",
            ),
            (
                Grants::none()
                    .with_tool("Task")
                    .with_tool("Task")
                    .with_tool("mcp__search__find")
                    .with_rule("WebFetch(domain:docs.rs)".parse().expect("a rule")),
                "Read,Write,Edit,Glob,Grep,Bash,Task,WebFetch",
            ),
        ] {
            assert_eq!(offered(&options, grants).to_argument(), argument);
        }
    }

    #[test]
    fn tools_of_the_options_replace_all_others() {
        let mut options = ClaudeOptions::new("claude", []);
        options.tools = Some(vec!["Read".into()]);

        let tools = offered(&options, Grants::none().with_tool("Task"));

        assert_eq!(tools.to_argument(), "Read");
        assert!(!tools.contains("Task"));
    }

    #[test]
    fn a_tool_is_known_by_its_older_and_newer_name() {
        let options = ClaudeOptions::new("claude", []);
        let tools = offered(
            &options,
            Grants::none().with_tool("Agent").with_tool("KillShell"),
        );

        for (name, is_offered) in [
            ("Task", true),
            ("Agent", true),
            ("TaskStop", true),
            ("Read", true),
            ("WebFetch", false),
        ] {
            assert_eq!(tools.contains(name), is_offered, "{name}");
        }
    }
}
