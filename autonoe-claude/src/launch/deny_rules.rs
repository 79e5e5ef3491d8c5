//! Deny rules in the syntax of Claude Code.

use autonoe_core::AgentError;
use autonoe_core::agent::AgentErrorKind;
use autonoe_core::gate::PermissionRule;

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
    use super::*;

    #[test]
    fn a_rule_is_translated_to_an_effective_one() {
        for (rule, said) in [
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
                said,
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
