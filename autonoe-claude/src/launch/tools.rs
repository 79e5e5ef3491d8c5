//! Built-in tools that a session offers to the agent, and deny rules in the syntax of Claude Code.

use autonoe_core::agent::AgentErrorKind;
use autonoe_core::gate::PermissionRule;
use autonoe_core::{AgentError, SessionSpec, ToolKind};

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

/// Translates `rules` for Claude Code.
///
/// Autonoe adds no rule of its own. Claude Code checks deny rules before it calls the gate, so the
/// journal would not show the attempt, and its sandbox mounts a denied directory read-only.
///
/// # Errors
///
/// Claude Code has no equivalent of a rule.
pub(super) fn deny_rules(rules: &[PermissionRule]) -> Result<Vec<String>, AgentError> {
    let translated = rules.iter().map(|rule| {
        translate(rule.as_str()).ok_or_else(|| {
            let rule = rule.as_str();
            AgentError::new(
                AgentErrorKind::Configuration,
                format!("Claude Code has no deny rule for {rule}; leave it to the gate"),
            )
        })
    });
    translated.collect()
}

/// Translates `rule` to the syntax of the program, if it has an equivalent.
///
/// `Write(path)` has no effect there, and `Edit(path)` applies to every tool that writes. A path
/// with one leading slash is relative to the settings file, and one with two is absolute.
fn translate(rule: &str) -> Option<String> {
    let Some((tool, pattern)) = rule.split_once('(') else {
        return Some(rule.trim_end_matches("__*").to_owned());
    };
    let pattern = pattern.strip_suffix(')')?;
    match (tool, pattern) {
        ("Write" | "Edit", path) => Some(format!("Edit({})", from_the_root(path))),
        ("Read", path) => Some(format!("Read({})", from_the_root(path))),
        ("Bash" | "WebFetch", "*") => Some(tool.to_owned()),
        ("Bash", _) => Some(rule.to_owned()),
        ("WebFetch", domain) if domain.starts_with("domain:") => Some(rule.to_owned()),
        _ => None,
    }
}

fn from_the_root(path: &str) -> String {
    let path = match path.strip_prefix('/') {
        Some(rest) if !rest.starts_with('/') => return format!("//{rest}"),
        _ => path,
    };
    if path.starts_with(['/', '~', '.']) {
        path.to_owned()
    } else {
        format!("./{path}")
    }
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

    #[test]
    fn a_rule_is_translated_to_an_effective_one() {
        for (rule, expected) in [
            ("Write(./secret/**)", Some("Edit(./secret/**)")),
            ("Edit(secret/**)", Some("Edit(./secret/**)")),
            ("Write(/etc/**)", Some("Edit(//etc/**)")),
            ("Write(//etc/**)", Some("Edit(//etc/**)")),
            ("Read(~/.ssh/**)", Some("Read(~/.ssh/**)")),
            ("Read(/etc/passwd)", Some("Read(//etc/passwd)")),
            ("Bash(*)", Some("Bash")),
            ("Bash(npm run *)", Some("Bash(npm run *)")),
            ("WebFetch(*)", Some("WebFetch")),
            (
                "WebFetch(domain:example.com)",
                Some("WebFetch(domain:example.com)"),
            ),
            ("mcp__server", Some("mcp__server")),
            ("mcp__server__*", Some("mcp__server")),
            ("mcp__server__tool", Some("mcp__server__tool")),
            ("Task", Some("Task")),
            ("Grep(./secret/**)", None),
            ("WebFetch(https://example.com/*)", None),
        ] {
            let rule: PermissionRule = rule.parse().expect("a rule of core");
            assert_eq!(
                translate(rule.as_str()).as_deref(),
                expected,
                "{}",
                rule.as_str()
            );
        }
    }

    #[test]
    fn a_rule_without_an_equivalent_is_an_error() {
        assert_eq!(deny_rules(&[]).expect("no rules"), [""; 0]);

        let glob = "Glob(./secret/**)".parse().expect("a rule of core");
        let error = deny_rules(&[glob]).expect_err("it has none");
        assert!(error.to_string().contains("Glob(./secret/**)"), "{error}");
    }
}
