//! Ignores unknown fields and fields of the original Autonoe, with a warning.

use serde::Deserialize;
use serde_json::Value;

use super::fields::FIELDS;
use super::guard_names::GUARDS;
use super::suggest::suggest;
use super::{ConfigError, ConfigErrorKind, ConfigFile};

/// Prefixes of field names that look as if they were meant to restrict agents.
const FORBIDDING: [&str; 13] = [
    "ban", "block", "deny", "disable", "disallow", "exclude", "forbid", "limit", "max", "prohibit",
    "protect", "readonly", "restrict",
];

/// The hook of the original Autonoe that the file scope guard replaces.
const SYNC_WRITE_RESTRICTION: &str = "sync-write-restriction";

/// A field of the root object that is left out.
pub(super) struct IgnoredField {
    pub(super) name: String,
    /// The position of the field, the problem and a suggestion.
    pub(super) warning: String,
}

impl IgnoredField {
    fn new(file: &ConfigFile, name: &str, message: String, hint: String) -> Self {
        let warning = ConfigError::new(ConfigErrorKind::UnknownField, message).hint(hint);
        let pointer = ConfigFile::below("", name);
        Self {
            name: name.to_owned(),
            warning: file.at_key(&pointer, warning).to_string(),
        }
    }
}

/// Returns the fields of the root object to leave out.
///
/// # Errors
///
/// The root is not an object, or ignoring a field would allow agents more than its author wanted.
pub(super) fn ignored_fields(file: &ConfigFile) -> Result<Vec<IgnoredField>, ConfigError> {
    let mut ignored = Vec::new();
    for name in file.names("")? {
        if name == "hooks" && file.value("/hooks").is_some_and(Value::is_object) {
            ignored.push(named_guards(file)?);
        } else if !FIELDS.iter().any(|field| field.name == name) {
            ignored.push(unknown_field(file, name)?);
        }
    }
    Ok(ignored)
}

fn unknown_field(file: &ConfigFile, name: &str) -> Result<IgnoredField, ConfigError> {
    let no_effect = |hint: String| {
        let message = format!("the unknown field `{name}` has no effect");
        Ok(IgnoredField::new(file, name, message, hint))
    };
    let unknown = |hint: String| {
        let message = format!("unknown field `{name}`");
        let error = ConfigError::new(ConfigErrorKind::UnknownField, message).hint(hint);
        file.at_key(&ConfigFile::below("", name), error)
    };
    if name == "sandbox" {
        let hint = "only the operator who starts a run can switch the sandbox off";
        return no_effect(hint.to_owned());
    }
    let names = FIELDS.map(|field| field.name);
    let restricts = |name| {
        FIELDS
            .iter()
            .any(|field| field.name == name && field.restricts)
    };
    let meant = suggest(name, names);
    let lower = name.to_lowercase().replace(['_', '-'], "");
    let forbids = FORBIDDING.iter().any(|start| lower.starts_with(start));
    match meant {
        _ if forbids => {
            let hint = "to forbid something, add a hook of the type `core-deny-tool`";
            Err(unknown(hint.to_owned()))
        }
        Some(meant) if restricts(meant) => Err(unknown(format!("did you mean `{meant}`?"))),
        Some(meant) => no_effect(format!("did you mean `{meant}`?")),
        None => no_effect(format!("known are {}", names.join(", "))),
    }
}

/// Ignores `hooks` in the form of the original Autonoe, `{"PreToolUse": ["bash-security"]}`: it can
/// name only guards, and guards always apply.
fn named_guards(file: &ConfigFile) -> Result<IgnoredField, ConfigError> {
    #[derive(Deserialize)]
    #[serde(try_from = "String")]
    struct GuardName;

    impl TryFrom<String> for GuardName {
        type Error = String;

        fn try_from(name: String) -> Result<Self, String> {
            if GUARDS.contains(&name.as_str()) || name == SYNC_WRITE_RESTRICTION {
                Ok(Self)
            } else {
                let known = GUARDS.join("`, `");
                Err(format!(
                    "unknown guard `{name}`; known are `{known}`; hooks are a list"
                ))
            }
        }
    }

    if file
        .names("/hooks")?
        .iter()
        .any(|event| *event != "PreToolUse")
    {
        let message = "expected a list of hooks, found an object";
        let error = ConfigError::new(ConfigErrorKind::WrongType, message);
        return Err(file.at_value("/hooks", error));
    }
    file.read::<Vec<GuardName>>("/hooks/PreToolUse")?;
    let message = "naming guards has no effect".to_owned();
    let hint = "guards always apply; remove the field, or write a list of hooks".to_owned();
    Ok(IgnoredField::new(file, "hooks", message, hint))
}
