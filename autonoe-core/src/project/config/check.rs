//! What must be true of a configuration file, checked value by value.
//!
//! Serde would find the same mistakes, but not say where: it knows no
//! pointers, and an untagged enum tells nothing of what it expected.

mod ignored_field;
mod server;
mod spec;

pub(super) use self::ignored_field::IgnoredField;
use self::ignored_field::{named_guards, unknown_field};
pub(super) use self::server::server_name_problem;
use self::server::servers;
use self::spec::{backend, hook};
use super::added_names::{command_problem, name_problem};
use super::cursor::Cursor;
use super::expected::Expected;
use super::suggest::suggest;
use super::{ConfigError, ConfigErrorKind};
use crate::port::PermissionRule;
use autonoe_security::Profile;

type Checked = Result<(), ConfigError>;

const FIELDS: &[&str] = &[
    "$schema",
    "profile",
    "allowCommands",
    "allowPkillTargets",
    "permissions",
    "environment",
    "allowedTools",
    "mcpServers",
    "hooks",
    "projectMemory",
    "backend",
];

/// The tools that take a pattern in a permission rule.
const WITH_PATTERN: [&str; 7] = ["Read", "Write", "Edit", "Glob", "Grep", "Bash", "WebFetch"];

const CONFIG: Expected<'_> = Expected::new("an object", r#"{"profile": "node"}"#);
const COMMANDS: Expected<'_> = Expected::new("a list of command names", r#"["docker"]"#);
const COMMANDS_OR_TIERS: Expected<'_> = Expected::new(
    "a list of command names, or an object of such lists",
    r#"["docker"]"#,
);
const PROCESSES: Expected<'_> = Expected::new("a list of process names", r#"["vite"]"#);
const PERMISSIONS: Expected<'_> = Expected::new(
    "an object with `allow`",
    r#"{"allow": ["WebFetch(domain:docs.rs)"]}"#,
);
const RULES: Expected<'_> = Expected::new(
    "a list of permission rules",
    r#"["WebFetch(domain:docs.rs)"]"#,
);
const RULE: Expected<'_> = Expected::new("a permission rule", r#""WebFetch(domain:docs.rs)""#);
const ENVIRONMENT: Expected<'_> =
    Expected::new("an object with `allow`", r#"{"allow": ["NPM_TOKEN"]}"#);
const VARIABLES: Expected<'_> = Expected::new("a list of variables", r#"["NPM_TOKEN"]"#);
const TOOLS: Expected<'_> = Expected::new("a list of tool names", r#"["Task"]"#);
const HOOKS: Expected<'_> = Expected::new(
    "a list of hooks",
    r#"[{"type": "core-deny-tool", "rule": "WebFetch(*)", "reason": "we work offline"}]"#,
);
const SWITCH: Expected<'_> = Expected::new("true or false", "false");

/// Checks a whole configuration, and returns the fields to leave out.
pub(super) fn check(root: &Cursor<'_>) -> Result<Vec<IgnoredField>, ConfigError> {
    let mut ignored = Vec::new();
    for (name, field) in root.fields(CONFIG)? {
        match name {
            "$schema" => drop(field.string(Expected::any_text("a string"))?),
            "profile" => profiles(&field)?,
            "allowCommands" => commands(&field)?,
            "allowPkillTargets" => names(&field, PROCESSES, name_problem)?,
            "permissions" => {
                for (_, allow) in field.known_fields(PERMISSIONS, &["allow"])? {
                    each(&allow, RULES, permission)?;
                }
            }
            "environment" => {
                for (_, allow) in field.known_fields(ENVIRONMENT, &["allow"])? {
                    each(&allow, VARIABLES, variable)?;
                }
            }
            "allowedTools" => each(&field, TOOLS, tool)?,
            "mcpServers" => servers(&field)?,
            "hooks" if field.is_object() => ignored.push(named_guards(&field)?),
            "hooks" => each(&field, HOOKS, hook)?,
            "projectMemory" => field.boolean(SWITCH)?,
            "backend" => backend(&field)?,
            _ => ignored.push(unknown_field(&field, name)?),
        }
    }
    Ok(ignored)
}

fn each(list: &Cursor<'_>, expected: Expected<'_>, check: fn(&Cursor<'_>) -> Checked) -> Checked {
    list.items(expected)?.iter().try_for_each(check)
}

fn profiles(field: &Cursor<'_>) -> Checked {
    let either = Expected::new("a profile or a list of profiles", r#""node""#);
    if field.is_list() {
        return each(field, either, profile);
    }
    field.string(either)?;
    profile(field)
}

fn profile(item: &Cursor<'_>) -> Checked {
    let name = item.string(Expected::new("a profile", r#""node""#))?;
    let known = Profile::ALL.map(Profile::name);
    if known.contains(&name) {
        return Ok(());
    }
    let hint = match suggest(name, known) {
        Some(meant) => format!("did you mean `{meant}`?"),
        None => format!("known are {}", known.join(", ")),
    };
    let message = format!("unknown profile `{name}`");
    Err(item
        .error(ConfigErrorKind::InvalidValue, message)
        .hint(hint))
}

fn commands(field: &Cursor<'_>) -> Checked {
    if !field.is_object() {
        return names(field, COMMANDS_OR_TIERS, command_problem);
    }
    for (_, tier) in field.known_fields(COMMANDS_OR_TIERS, &["base", "run", "sync"])? {
        names(&tier, COMMANDS, command_problem)?;
    }
    Ok(())
}

fn names(
    field: &Cursor<'_>,
    expected: Expected<'_>,
    problem: fn(&str) -> Option<&'static str>,
) -> Checked {
    field.items(expected)?.iter().try_for_each(|item| {
        let name = item.string(Expected::new("a name", r#""docker""#))?;
        match problem(name) {
            Some(problem) => Err(item.error(
                ConfigErrorKind::InvalidValue,
                format!("{name:?}: {problem}"),
            )),
            None => Ok(()),
        }
    })
}

fn variable(item: &Cursor<'_>) -> Checked {
    let name = item.string(Expected::new("the name of a variable", r#""NPM_TOKEN""#))?;
    match variable_problem(name) {
        Some(problem) => {
            let message = format!("{name:?}: {problem}");
            Err(item.error(ConfigErrorKind::InvalidValue, message))
        }
        None => Ok(()),
    }
}

/// Returns why `name` is not a valid pattern for names of variables.
pub(super) fn variable_problem(name: &str) -> Option<&'static str> {
    if name.chars().all(|c| c == '*') {
        Some("it must name the variables that the work needs")
    } else if name.contains(|c: char| c.is_whitespace() || c.is_control() || c == '=') {
        Some("it must be the name of a variable, without a value")
    } else {
        None
    }
}

fn permission(item: &Cursor<'_>) -> Checked {
    let text = item.string(RULE)?;
    let Err(invalid) = text.parse::<PermissionRule>() else {
        return Ok(());
    };
    let meant = text.split_once('(').and_then(|(name, pattern)| {
        let meant = suggest(name, WITH_PATTERN).filter(|meant| *meant != name)?;
        Some(format!("did you mean `{meant}({pattern}`?"))
    });
    let hint = meant.unwrap_or_else(|| {
        "a rule is like Read(./docs/**), Bash(npm run *) or WebFetch(domain:docs.rs)".to_owned()
    });
    Err(item
        .error(ConfigErrorKind::InvalidValue, invalid.to_string())
        .hint(hint))
}

fn tool(item: &Cursor<'_>) -> Checked {
    let text = item.string(Expected::new("the name of a tool", r#""Task""#))?;
    let message = match text.parse::<PermissionRule>() {
        Ok(_) if !text.contains('(') => return Ok(()),
        Ok(_) => format!("{text:?} is a permission rule and not the name of a tool"),
        Err(_) => format!("{text:?} is not the name of a tool"),
    };
    let hint = if text.contains('(') {
        "put it into `permissions.allow`"
    } else {
        "a name is like Task, mcp__server__tool or mcp__server__*"
    };
    Err(item
        .error(ConfigErrorKind::InvalidValue, message)
        .hint(hint.to_owned()))
}
