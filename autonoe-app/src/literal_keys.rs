//! Rejects keys in project files, which agents can read.

use autonoe_core::project::{ConfigError, ConfigFile};
use serde_json::Value;

/// Suffixes of name parts of secret headers: `x-api-key`, `Authorization`.
const SECRET: [&str; 11] = [
    "auth",
    "authentication",
    "authorization",
    "cookie",
    "credential",
    "credentials",
    "jwt",
    "key",
    "password",
    "secret",
    "token",
];

/// Prefixes of secrets, whatever the header is called.
const SECRET_PREFIXES: [&str; 4] = ["basic ", "bearer ", "sk-", "token "];

/// Checks that there is no literal key at this pointer or below it.
pub(crate) fn reject_literal_key(file: &ConfigFile, pointer: &str) -> Result<(), ConfigError> {
    let written: Option<Value> = file.read(pointer)?;
    match written
        .as_ref()
        .and_then(|it| find_literal_key(it, pointer))
    {
        None => Ok(()),
        Some(key) => {
            let hint =
                "put the key into an environment variable and write {\"env\": \"NAME\"}".to_owned();
            Err(file.problem(&key, "this file must not contain a key", hint))
        }
    }
}

/// Returns the pointer to a literal key.
fn find_literal_key(value: &Value, pointer: &str) -> Option<String> {
    let fields = value.as_object()?;
    if fields.len() == 1 && fields.get("value").is_some_and(Value::is_string) {
        return Some(pointer.to_owned());
    }
    fields.iter().find_map(|(name, value)| {
        let below = ConfigFile::below(pointer, name);
        match (name.as_str(), value) {
            ("headers", Value::Object(headers)) => {
                let secret = |(name, value): &(&String, &Value)| is_secret(name, value);
                let header = headers
                    .iter()
                    .find(secret)
                    .map(|(name, _)| ConfigFile::below(&below, name));
                header.or_else(|| find_literal_key(value, &below))
            }
            ("endpoint", Value::String(address)) => has_login(address).then_some(below),
            _ => find_literal_key(value, &below),
        }
    })
}

/// Returns whether a literal header is a secret, by its name or its prefix.
fn is_secret(name: &str, value: &Value) -> bool {
    let Some(text) = value.as_str() else {
        return false;
    };
    let text = text.trim().to_ascii_lowercase();
    let name = name.to_ascii_lowercase();
    let mut parts = name.split(|c: char| !c.is_ascii_alphanumeric());
    !text.is_empty()
        && (parts.any(|part| SECRET.iter().any(|end| part.ends_with(end)))
            || SECRET_PREFIXES
                .iter()
                .any(|begins| text.starts_with(begins)))
}

/// Returns whether an address contains `user:password@`.
fn has_login(address: &str) -> bool {
    let rest = address.split_once("://").map_or(address, |(_, rest)| rest);
    let authority = rest.split(['/', '?', '#']).next().unwrap_or_default();
    authority.contains('@')
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn a_header_is_secret_by_its_name_or_its_prefix() {
        for (name, value, is_key) in [
            ("x-api-key", "abc", true),
            ("Authorization", "abc", true),
            ("proxy-authorization", "abc", true),
            ("X_AUTH_TOKEN", "abc", true),
            ("apikey", "abc", true),
            ("Cookie", "a=b", true),
            ("x-team", "Bearer abc", true),
            ("x-team", " sk-abc", true),
            ("x-team", "blue", false),
            ("x-api-version", "2", false),
            ("anthropic-beta", "context-1m", false),
            ("x-keep-alive", "yes", false),
            ("authorization", "", false),
        ] {
            let found = find_literal_key(&json!({"headers": {name: value}}), "/a");
            let expected = is_key.then(|| format!("/a/headers/{name}"));
            assert_eq!(found, expected, "{name}: {value}");
        }
    }

    #[test]
    fn a_literal_key_is_found_at_any_depth() {
        for (value, place) in [
            (json!({"key": {"value": "x"}}), Some("/a/key")),
            (
                json!({"headers": {"x": {"value": "x"}}}),
                Some("/a/headers/x"),
            ),
            (
                json!({"proxy": {"login": {"value": "x"}}}),
                Some("/a/proxy/login"),
            ),
            (
                json!({"endpoint": "https://me:secret@host/x"}),
                Some("/a/endpoint"),
            ),
            (json!({"endpoint": "https://host/x@y"}), None),
            (json!({"headers": {"x-key": {"env": "NAME"}}}), None),
            (json!({"key": "none"}), None),
        ] {
            let found = find_literal_key(&value, "/a");
            assert_eq!(found.as_deref(), place, "{value}");
        }
    }
}
