//! What must be true of a configuration file, checked value by value.
//!
//! Serde would find the same mistakes, but not say where: it knows no
//! pointers, and an untagged enum tells nothing of what it expected.

use serde_json::{Map, Value};

use super::bash_options::name_problem;
use super::cursor::Cursor;
use super::suggest::suggest;
use super::{ConfigError, ConfigErrorKind, Profile};
use crate::port::{HookSpec, PermissionRule, SpecPort, Toolbox, registered_specs};

type Checked = Result<(), ConfigError>;

const FIELDS: &[&str] = &[
    "$schema",
    "profile",
    "allowCommands",
    "allowPkillTargets",
    "permissions",
    "allowedTools",
    "mcpServers",
    "hooks",
];

/// The tools that take a pattern in a permission rule.
const WITH_PATTERN: [&str; 7] = ["Read", "Write", "Edit", "Glob", "Grep", "Bash", "WebFetch"];

/// Checks a whole configuration.
pub(super) fn check(root: &Cursor<'_>) -> Checked {
    for (name, field) in root.known_fields("an object", FIELDS)? {
        match name {
            "profile" => profiles(&field)?,
            "allowCommands" => commands(&field)?,
            "allowPkillTargets" => names(&field, "a list of process names")?,
            "permissions" => {
                for (_, allow) in field.known_fields("an object with `allow`", &["allow"])? {
                    each(&allow, "a list of permission rules", permission)?;
                }
            }
            "allowedTools" => each(&field, "a list of tool names", tool)?,
            "mcpServers" => {
                for (name, entry) in field.fields("an object of MCP servers by name")? {
                    if let Some(problem) = server_name_problem(name) {
                        return Err(entry.key_error(ConfigErrorKind::InvalidValue, problem));
                    }
                    server(&entry)?;
                }
            }
            "hooks" => each(&field, "a list of hooks", hook)?,
            _ => drop(field.string("a string")?),
        }
    }
    Ok(())
}

fn each(list: &Cursor<'_>, expected: &str, check: fn(&Cursor<'_>) -> Checked) -> Checked {
    list.items(expected)?.iter().try_for_each(check)
}

fn profiles(field: &Cursor<'_>) -> Checked {
    if field.is_list() {
        return each(field, "", profile);
    }
    field.string("a profile or a list of profiles")?;
    profile(field)
}

fn profile(item: &Cursor<'_>) -> Checked {
    let name = item.string("a profile")?;
    let known = Profile::ALL.map(Profile::as_str);
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
        return names(field, "a list of command names, or an object of such lists");
    }
    for (_, tier) in field.known_fields("", &["base", "run", "sync"])? {
        names(&tier, "a list of command names")?;
    }
    Ok(())
}

fn names(field: &Cursor<'_>, expected: &str) -> Checked {
    each(field, expected, |item| {
        let name = item.string("a name")?;
        match name_problem(name) {
            Some(problem) => Err(item.error(
                ConfigErrorKind::InvalidValue,
                format!("{name:?}: {problem}"),
            )),
            None => Ok(()),
        }
    })
}

fn permission(item: &Cursor<'_>) -> Checked {
    let text = item.string("a permission rule")?;
    let Err(invalid) = text.parse::<PermissionRule>() else {
        return Ok(());
    };
    let hint = text.split_once('(').and_then(|(name, pattern)| {
        let meant = suggest(name, WITH_PATTERN).filter(|meant| *meant != name)?;
        Some(format!("did you mean `{meant}({pattern}`?"))
    });
    Err(item
        .error(ConfigErrorKind::InvalidValue, invalid.to_string())
        .hint(hint))
}

fn tool(item: &Cursor<'_>) -> Checked {
    let text = item.string("the name of a tool")?;
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

/// Says what is wrong with `name` as the name of an MCP server.
pub(super) fn server_name_problem(name: &str) -> Option<String> {
    if name == Toolbox::SERVER {
        return Some(format!(
            "the server name `{name}` is taken by the deliverable tools"
        ));
    }
    let fits = name.len() <= 64
        && !name.contains("__")
        && format!("mcp__{name}__*").parse::<PermissionRule>().is_ok();
    (!fits).then(|| {
        format!(
            "{name:?} cannot name a server: use up to 64 letters, digits and signs _ - . : (no __)"
        )
    })
}

fn server(entry: &Cursor<'_>) -> Checked {
    let fields = entry.fields("an MCP server")?;
    let field = |name: &str| fields.iter().find(|(field, _)| *field == name);
    let transport = match field("type") {
        Some((_, transport)) => Some(transport.string("a transport")?),
        None => None,
    };
    let is_remote = field("url").is_some() || matches!(transport, Some("http" | "sse"));
    let (known, needed): (&[&str], &[&str]) = if is_remote {
        (&["type", "url", "headers"], &["type", "url"])
    } else {
        (&["command", "args", "env", "type"], &["command"])
    };
    for (name, field) in entry.known_fields("", known)? {
        match name {
            "args" => each(&field, "a list of arguments", |item| {
                item.string("an argument").map(drop)
            })?,
            "env" | "headers" => {
                for (_, value) in field.fields("an object of strings")? {
                    value.string("a string")?;
                }
            }
            "type" if is_remote && !matches!(transport, Some("http" | "sse")) => {
                let message = "a server with a `url` has the type `http` or `sse`";
                return Err(field.error(ConfigErrorKind::InvalidValue, message));
            }
            "type" if !is_remote && transport != Some("stdio") => {
                let message = "the type of a server is `stdio`, `http` or `sse`";
                return Err(field.error(ConfigErrorKind::InvalidValue, message));
            }
            _ if field.string("a string")?.trim().is_empty() => {
                return Err(field.error(ConfigErrorKind::InvalidValue, "it is blank"));
            }
            _ => {}
        }
    }
    match needed.iter().find(|name| field(name).is_none()) {
        Some(missing) => Err(entry
            .error(
                ConfigErrorKind::InvalidValue,
                format!("the server has no `{missing}`"),
            )
            .hint("a server has a `command`, or a `type` and a `url`".to_owned())),
        None => Ok(()),
    }
}

fn hook(item: &Cursor<'_>) -> Checked {
    let fields = item.fields("a hook")?;
    let Some((_, tag)) = fields.iter().find(|(name, _)| *name == "type") else {
        let message = "the hook has no `type`";
        return Err(item
            .error(ConfigErrorKind::Hook, message)
            .hint(known_hooks()));
    };
    let name = tag.string("the type of a hook")?;
    let specs = registered_specs(SpecPort::Hook);
    let spec = specs.iter().find(|spec| spec.tag == name);
    if let Some(spec) = spec {
        let schema = (spec.schema)().to_value();
        // A spec that takes any field has no such word in its schema.
        if schema["additionalProperties"] == Value::Bool(false) {
            let none = Map::new();
            let properties = schema["properties"].as_object().unwrap_or(&none);
            let known = properties.keys().map(String::as_str);
            item.known_fields("", &known.chain(["type"]).collect::<Vec<_>>())?;
        }
    }
    let Err(error) = serde_json::from_str::<Box<dyn HookSpec>>(item.text()) else {
        return Ok(());
    };
    if spec.is_some() {
        let said = error.to_string();
        let said = said.split(" at line ").next().unwrap_or_default();
        return Err(item.error(ConfigErrorKind::Hook, said));
    }
    let hint = match suggest(name, specs.iter().map(|spec| spec.tag)) {
        Some(meant) => format!("did you mean `{meant}`? ({})", known_hooks()),
        None => known_hooks(),
    };
    let message = format!("this program knows no hook of the type `{name}`");
    Err(tag
        .error(ConfigErrorKind::Hook, message)
        .hint(hint)
        .caused_by(error))
}

fn known_hooks() -> String {
    let specs = registered_specs(SpecPort::Hook);
    let tags: Vec<&str> = specs.iter().map(|spec| spec.tag).collect();
    format!("known are {}", tags.join(", "))
}
