//! What must be true of the MCP servers.

use super::{Checked, each};
use crate::port::{PermissionRule, Toolbox};
use crate::project::config::ConfigErrorKind;
use crate::project::config::cursor::Cursor;
use crate::project::config::expected::Expected;

const SERVERS: Expected<'_> = Expected::new(
    "an object of MCP servers by name",
    r#"{"docs": {"command": "docs-server"}}"#,
);
const SERVER: Expected<'_> = Expected::new("an MCP server", r#"{"command": "docs-server"}"#);
const ARGUMENTS: Expected<'_> = Expected::new("a list of arguments", r#"["--port", "8080"]"#);
// Environments and headers may be secret, so no hint repeats them.
const PAIRS: Expected<'_> = Expected::new("an object of strings", r#"{"NAME": "value"}"#);
const VALUE: Expected<'_> = Expected::new("a string", r#""value""#);

pub(super) fn servers(field: &Cursor<'_>) -> Checked {
    for (name, entry) in field.fields(SERVERS)? {
        if let Some(problem) = server_name_problem(name) {
            return Err(entry.key_error(ConfigErrorKind::InvalidValue, problem));
        }
        server(&entry)?;
    }
    Ok(())
}

/// Says what is wrong with `name` as the name of an MCP server, and how to mend it.
pub(in crate::project::config) fn server_name_problem(name: &str) -> Option<String> {
    if name == Toolbox::SERVER {
        return Some(format!(
            "the server name `{name}` is taken by the deliverable tools; choose another one"
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
    let fields = entry.fields(SERVER)?;
    let field = |name: &str| fields.iter().find(|(field, _)| *field == name);
    let transport = match field("type") {
        Some((_, transport)) => Some(transport.string(Expected::new("a transport", r#""stdio""#))?),
        None => None,
    };
    let is_remote = field("url").is_some() || matches!(transport, Some("http" | "sse"));
    let (known, needed): (&[&str], &[&str]) = if is_remote {
        (&["type", "url", "headers"], &["type", "url"])
    } else {
        (&["command", "args", "env", "type"], &["command"])
    };
    for (name, field) in entry.known_fields(SERVER, known)? {
        match name {
            "args" => each(&field, ARGUMENTS, |item| {
                item.string(Expected::any_text("an argument")).map(drop)
            })?,
            "env" | "headers" => {
                for (_, value) in field.fields(PAIRS)? {
                    value.string(VALUE)?;
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
            _ if field
                .string(Expected::any_text("a string"))?
                .trim()
                .is_empty() =>
            {
                return Err(field
                    .error(ConfigErrorKind::InvalidValue, "it is blank")
                    .hint("a server has a `command`, or a `type` and a `url`".to_owned()));
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
