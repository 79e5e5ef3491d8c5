//! Fields of the original Autonoe and unknown fields, which are ignored with a warning.

use super::{FIELDS, HOOKS};
use crate::project::config::cursor::Cursor;
use crate::project::config::expected::Expected;
use crate::project::config::guard_names::GUARDS;
use crate::project::config::suggest::suggest;
use crate::project::config::{ConfigError, ConfigErrorKind};

/// Fields that restrict agents when they are set. A misspelled one is an error, because ignoring it
/// would allow more than the file says.
const RESTRICTING: [&str; 7] = [
    "profile",
    "permissions",
    "allowedTools",
    "mcpServers",
    "hooks",
    "projectMemory",
    "backend",
];

/// Starts of names of fields that look as if they were meant to restrict agents.
const FORBIDDING: [&str; 13] = [
    "ban", "block", "deny", "disable", "disallow", "exclude", "forbid", "limit", "max", "prohibit",
    "protect", "readonly", "restrict",
];

/// The hook of the original Autonoe whose work the file scope guard does.
const SYNC_WRITE_RESTRICTION: &str = "sync-write-restriction";

const HOOK_NAMES: Expected<'_> = Expected::new("a list of guards", r#"["bash-security"]"#);
const HOOK_NAME: Expected<'_> = Expected::new("the name of a guard", r#""bash-security""#);

/// A field of the root object that the reader leaves out.
pub(in crate::project::config) struct IgnoredField {
    pub(in crate::project::config) name: String,
    /// Says where the field is, and what to do about it.
    pub(in crate::project::config) warning: String,
}

impl IgnoredField {
    fn new(field: &Cursor<'_>, name: &str, message: String, hint: String) -> Self {
        let warning = field.key_error(ConfigErrorKind::UnknownField, message);
        Self {
            name: name.to_owned(),
            warning: warning.hint(hint).to_string(),
        }
    }
}

/// Ignores the unknown field `name` of the root object.
///
/// # Errors
///
/// Ignoring the field would allow agents more than its author wanted.
pub(super) fn unknown_field(field: &Cursor<'_>, name: &str) -> Result<IgnoredField, ConfigError> {
    let no_effect = |hint: String| {
        let message = format!("the unknown field `{name}` has no effect");
        IgnoredField::new(field, name, message, hint)
    };
    if name == "sandbox" {
        let hint = "only the operator who starts a run can switch the sandbox off";
        return Ok(no_effect(hint.to_owned()));
    }
    let meant = suggest(name, FIELDS.iter().copied());
    let lower = name.to_lowercase().replace(['_', '-'], "");
    let forbids = FORBIDDING.iter().any(|start| lower.starts_with(start));
    match meant {
        _ if forbids => {
            let message = format!("unknown field `{name}`");
            let hint = "to forbid something, add a hook of the type `core-deny-tool`".to_owned();
            let error = field.key_error(ConfigErrorKind::UnknownField, message);
            Err(error.hint(hint))
        }
        Some(meant) if RESTRICTING.contains(&meant) => Err(field.unknown_field(name, FIELDS)),
        Some(meant) => Ok(no_effect(format!("did you mean `{meant}`?"))),
        None => Ok(no_effect(format!("known are {}", FIELDS.join(", ")))),
    }
}

/// Ignores `hooks` in the form of the original Autonoe, `{"PreToolUse": ["bash-security"]}`: it can
/// name only guards, and guards are always there.
///
/// # Errors
///
/// The object has another form, or names something that is no guard.
pub(super) fn named_guards(field: &Cursor<'_>) -> Result<IgnoredField, ConfigError> {
    for (event, names) in field.fields(HOOKS)? {
        if event != "PreToolUse" {
            return Err(field.wrong_type(HOOKS));
        }
        for item in names.items(HOOK_NAMES)? {
            let name = item.string(HOOK_NAME)?;
            if !GUARDS.contains(&name) && name != SYNC_WRITE_RESTRICTION {
                let message = format!("there is no guard `{name}`");
                let hint = format!(
                    "known are {}; hooks are a list of objects",
                    GUARDS.join(", ")
                );
                return Err(item.error(ConfigErrorKind::Hook, message).hint(hint));
            }
        }
    }
    let message = "naming guards has no effect".to_owned();
    let hint = "guards always apply; remove the field, or write a list of hooks".to_owned();
    Ok(IgnoredField::new(field, "hooks", message, hint))
}
