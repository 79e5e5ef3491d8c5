//! [`FIELDS`], the table of the fields of `agent.json`, with example values and the fields that are ignored.

use serde::Deserialize;
use serde_json::Value;

use super::suggest::suggest;
use super::{ConfigError, ConfigErrorKind, ConfigFile};

/// A field of the root object of `agent.json`.
pub(super) struct Field {
    pub(super) name: &'static str,
    /// Whether it restricts agents when it is set. A misspelled one is an error, because ignoring it
    /// would allow more than the file says.
    pub(super) restricts: bool,
    /// Examples for error messages, by pointer; `*` matches any name.
    pub(super) examples: &'static [(&'static str, &'static str)],
}

/// The fields, in the order in which messages list them. Another field is ignored with a warning.
pub(super) const FIELDS: [Field; 11] = [
    Field {
        name: "$schema",
        restricts: false,
        examples: &[],
    },
    Field {
        name: "profile",
        restricts: true,
        examples: &[("/profile", r#""node""#), ("/profile/*", r#""node""#)],
    },
    Field {
        name: "allowCommands",
        restricts: false,
        examples: &[
            ("/allowCommands", r#"["docker"]"#),
            ("/allowCommands/*", r#""docker""#),
            ("/allowCommands/*", r#"["docker"]"#),
            ("/allowCommands/*/*", r#""docker""#),
        ],
    },
    Field {
        name: "allowPkillTargets",
        restricts: false,
        examples: &[
            ("/allowPkillTargets", r#"["vite"]"#),
            ("/allowPkillTargets/*", r#""vite""#),
        ],
    },
    Field {
        name: "permissions",
        restricts: true,
        examples: &[
            ("/permissions", r#"{"allow": ["WebFetch(domain:docs.rs)"]}"#),
            ("/permissions/allow", r#"["WebFetch(domain:docs.rs)"]"#),
            ("/permissions/allow/*", r#""WebFetch(domain:docs.rs)""#),
        ],
    },
    Field {
        name: "environment",
        restricts: false,
        examples: &[
            ("/environment", r#"{"allow": ["NPM_TOKEN"]}"#),
            ("/environment/allow", r#"["NPM_TOKEN"]"#),
            ("/environment/allow/*", r#""NPM_TOKEN""#),
        ],
    },
    Field {
        name: "allowedTools",
        restricts: true,
        examples: &[
            ("/allowedTools", r#"["Task"]"#),
            ("/allowedTools/*", r#""Task""#),
        ],
    },
    Field {
        name: "mcpServers",
        restricts: true,
        examples: &[
            ("/mcpServers", r#"{"docs": {"command": "docs-server"}}"#),
            ("/mcpServers/*", r#"{"command": "docs-server"}"#),
            ("/mcpServers/*/type", r#""stdio""#),
            ("/mcpServers/*/env/*", r#""value""#),
            ("/mcpServers/*/headers/*", r#""value""#),
        ],
    },
    Field {
        name: "hooks",
        restricts: true,
        examples: &[
            (
                "/hooks",
                r#"[{"type": "core-deny-tool", "rule": "WebFetch(*)", "reason": "we work offline"}]"#,
            ),
            (
                "/hooks/*",
                r#"{"type": "core-deny-tool", "rule": "WebFetch(*)", "reason": "we work offline"}"#,
            ),
            ("/hooks/PreToolUse/*", r#""bash-security""#),
            ("/hooks/*/type", r#""core-deny-tool""#),
        ],
    },
    Field {
        name: "projectMemory",
        restricts: true,
        examples: &[("/projectMemory", "false")],
    },
    Field {
        name: "backend",
        restricts: true,
        examples: &[("/backend", r#"{"type": "codex"}"#)],
    },
];

/// The example of the root object.
const ROOT_EXAMPLE: (&str, &str) = ("", r#"{"profile": "node"}"#);

/// Adds the kind and the example that only the reader of `agent.json` knows to an error.
pub(super) fn with_example(error: ConfigError, file: &ConfigFile) -> ConfigError {
    let pointer = error.pointer().unwrap_or_default().to_owned();
    let kind = match pointer.split('/').nth(1) {
        Some("hooks") => ConfigErrorKind::Hook,
        Some("backend") => ConfigErrorKind::Backend,
        _ => ConfigErrorKind::InvalidValue,
    };
    match error.kind() {
        ConfigErrorKind::UnknownField if pointer == "/permissions/deny" => {
            let hint = "rules only allow; to block, add a hook of the type `core-deny-tool`";
            error.hint(hint.to_owned())
        }
        ConfigErrorKind::WrongType if error.suggestion().is_none() => {
            let hint = hint(&pointer, error.message(), file.value(&pointer));
            error.hint(hint)
        }
        ConfigErrorKind::InvalidValue => error.with_kind(kind),
        _ => error,
    }
}

/// Returns a hint for the value at `pointer`, which does not match what `message` expects.
fn hint(pointer: &str, message: &str, found: Option<&Value>) -> String {
    let expected = message.strip_prefix("expected ").unwrap_or_default();
    let (start, any) = match expected {
        _ if expected.starts_with("a list") => ("[", r#"["text"]"#),
        _ if expected.starts_with("an object") => ("{", r#"{"name": "value"}"#),
        _ if expected.starts_with("a string") => ("\"", r#""text""#),
        _ => ("", r#""name""#),
    };
    let of_fields = FIELDS.iter().flat_map(|field| field.examples);
    let mut examples = [&ROOT_EXAMPLE]
        .into_iter()
        .chain(of_fields)
        .filter(|(pattern, _)| is_at(pointer, pattern));
    match (
        examples.find(|(_, example)| example.starts_with(start)),
        found,
    ) {
        (Some((_, example)), _) => format!("for example `{example}`"),
        (None, Some(Value::Number(_) | Value::Bool(_))) if start == "\"" => {
            "write it in quotes".to_owned()
        }
        (None, Some(Value::Array(_))) if start == "\"" => {
            "write the text itself, without a list".to_owned()
        }
        (None, _) => format!("for example `{any}`"),
    }
}

/// Returns whether `pointer` matches `pattern`.
fn is_at(pointer: &str, pattern: &str) -> bool {
    let pairs = pointer.split('/').zip(pattern.split('/'));
    pointer.matches('/').count() == pattern.matches('/').count()
        && pairs
            .into_iter()
            .all(|(name, known)| known == "*" || name == known)
}

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
    let suggestion = suggest(name, names);
    let lower = name.to_lowercase().replace(['_', '-'], "");
    let forbids = FORBIDDING.iter().any(|start| lower.starts_with(start));
    match suggestion {
        _ if forbids => {
            let hint = "to forbid something, add a hook of the type `core-deny-tool`";
            Err(unknown(hint.to_owned()))
        }
        Some(suggestion) if restricts(suggestion) => {
            Err(unknown(format!("did you mean `{suggestion}`?")))
        }
        Some(suggestion) => no_effect(format!("did you mean `{suggestion}`?")),
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

/// The guards that run before every hook.
pub(super) const GUARDS: [&str; 3] = ["bash-security", "file-scope", "autonoe-protection"];

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use autonoe_security::DenyAll;

    use super::*;
    use crate::gate::{AutonoeGuard, BashGuard, FileScope, PreToolUseHook, ProjectPaths};

    #[test]
    fn the_names_match_those_of_the_guards() {
        let project_paths = ProjectPaths::new("/srv/project");
        let guards: [&dyn PreToolUseHook; 3] = [
            &BashGuard::new(Arc::new(DenyAll)),
            &FileScope::new(project_paths.clone()),
            &AutonoeGuard::new(project_paths),
        ];

        assert_eq!(guards.map(PreToolUseHook::name), GUARDS);
    }
}
