//! Keys that stand in a file, which agents can read.

use autonoe_core::{ConfigError, ConfigFile};
use serde_json::Value;

/// How names of headers end that hold secrets, part by part: `x-api-key`, `Authorization`.
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

/// How secrets begin, whatever the header is called.
const BEGINNINGS: [&str; 4] = ["basic ", "bearer ", "sk-", "token "];

/// Checks that no key is written out at this place or below it.
pub(super) fn no_key(file: &ConfigFile, pointer: &str) -> Result<(), ConfigError> {
    let written: Option<Value> = file.read(pointer)?;
    match written.as_ref().and_then(|it| key_itself(it, pointer)) {
        None => Ok(()),
        Some(key) => {
            let hint = "put it into a variable and write {\"env\": \"NAME\"}".to_owned();
            Err(file.problem(&key, "a key does not belong into this file", hint))
        }
    }
}

/// Returns the pointer to a key that is written out.
fn key_itself(value: &Value, pointer: &str) -> Option<String> {
    let fields = value.as_object()?;
    if fields.len() == 1 && fields.get("value").is_some_and(Value::is_string) {
        return Some(pointer.to_owned());
    }
    fields.iter().find_map(|(name, value)| {
        let below = ConfigFile::below(pointer, name);
        match (name.as_str(), value) {
            ("headers", Value::Object(headers)) => {
                let secret = |(name, value): &(&String, &Value)| is_secret(name, value);
                let header = headers.iter().find(secret);
                let header = header.map(|(name, _)| ConfigFile::below(&below, name));
                header.or_else(|| key_itself(value, &below))
            }
            ("endpoint", Value::String(address)) => has_login(address).then_some(below),
            _ => key_itself(value, &below),
        }
    })
}

/// Tells whether a header that is written out is a secret, by its name or by how it begins.
fn is_secret(name: &str, value: &Value) -> bool {
    let Some(text) = value.as_str() else {
        return false;
    };
    let text = text.trim().to_ascii_lowercase();
    let name = name.to_ascii_lowercase();
    let mut parts = name.split(|c: char| !c.is_ascii_alphanumeric());
    !text.is_empty()
        && (parts.any(|part| SECRET.iter().any(|end| part.ends_with(end)))
            || BEGINNINGS.iter().any(|begins| text.starts_with(begins)))
}

/// Tells whether `user:password@` is in an address.
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
    fn a_header_is_secret_by_its_name_or_by_how_it_begins() {
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
            let found = key_itself(&json!({"headers": {name: value}}), "/a");
            let expected = is_key.then(|| format!("/a/headers/{name}"));
            assert_eq!(found, expected, "{name}: {value}");
        }
    }

    #[test]
    fn a_key_is_found_wherever_it_is_written_out() {
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
            let found = key_itself(&value, "/a");
            assert_eq!(found.as_deref(), place, "{value}");
        }
    }
}
