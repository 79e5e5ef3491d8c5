//! [`KeySource`]: location of an API key.

use std::path::{Path, PathBuf};

use schemars::JsonSchema;
use serde::de::Error as _;
use serde::{Deserialize, Deserializer, Serialize};
use serde_json::Value;

use super::ProviderContext;
use crate::contract::{ModelError, ModelErrorCode};
use crate::transport::Secret;

/// Maximum size of a key file in bytes. A larger file is not a key.
const MAX_FILE_BYTES: u64 = 64 << 10;

/// Description of the accepted formats.
const FORMS: &str = "a key is given as {\"env\": \"NAME\"}, {\"file\": \"PATH\"}, {\"value\": \"KEY\"} \
     or \"none\"";

/// Location of an API key. A configuration contains the location instead of the key itself.
///
/// ```
/// use autonoe_model::provider::ProviderContext;
/// use autonoe_model::KeySource;
///
/// let source: KeySource = serde_json::from_str(r#"{"env": "ACME_KEY"}"#)?;
/// let context = ProviderContext::new("acme")
///     .with_environment([("ACME_KEY".into(), "sk-123".into())]);
///
/// let key = source.resolve(&context)?.expect("there is one");
/// assert_eq!(key.expose(), "sk-123");
///
/// let error = source.resolve(&ProviderContext::new("acme")).expect_err("it is not set");
/// assert_eq!(error.message, "no key for acme: the variable ACME_KEY is not set");
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, Debug, PartialEq, Eq, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
#[non_exhaustive]
pub enum KeySource {
    /// Variable of the environment that the caller passes.
    Env(String),
    /// File that contains nothing else.
    File(PathBuf),
    /// The key itself, for tests. Serialization redacts it.
    Value(Secret),
    /// No key. None is sent.
    None,
}

impl KeySource {
    /// Creates a source from the name of a variable.
    pub fn env(name: impl Into<String>) -> Self {
        Self::Env(name.into())
    }

    /// Creates a source from the key itself, for tests.
    pub fn value(key: impl Into<String>) -> Self {
        Self::Value(Secret::new(key))
    }

    /// Returns the key, or `None` if none is sent.
    ///
    /// # Errors
    ///
    /// `PROVIDER_NOT_CONFIGURED`: the key is missing or blank. The error names the variable or the
    /// file.
    pub fn resolve(&self, context: &ProviderContext) -> Result<Option<Secret>, ModelError> {
        let missing = |reason: String| {
            let message = format!("no key for {}: {reason}", context.name);
            ModelError::new(ModelErrorCode::ProviderNotConfigured, message)
        };
        let (key, place) = match self {
            Self::None => return Ok(None),
            Self::Env(name) => {
                let place = format!("the variable {name}");
                let value = context
                    .variable(name)
                    .ok_or_else(|| missing(format!("{place} is not set")))?
                    .to_str()
                    .map(str::to_owned);
                (
                    value.ok_or_else(|| missing(format!("{place} is not UTF-8")))?,
                    place,
                )
            }
            Self::File(path) => {
                let place = format!("the file {}", path.display());
                let found = context.resolve(path).ok_or_else(|| {
                    missing(format!(
                        "{place} is a relative path, but there is no project to resolve it in; \
                         write an absolute path"
                    ))
                })?;
                let text = read(&found)
                    .map_err(|error| missing(format!("{place} cannot be read: {error}")))?;
                (text, place)
            }
            Self::Value(key) if key.is_redacted() => {
                return Err(missing(
                    "it was redacted when the configuration was saved".to_owned(),
                ));
            }
            Self::Value(key) => (key.expose().to_owned(), "the value".to_owned()),
        };
        let key = key.trim();
        if key.is_empty() {
            return Err(missing(format!("{place} is blank")));
        }
        // The key is sent as a header.
        if !key
            .bytes()
            .all(|byte| byte.is_ascii_graphic() || byte == b' ')
        {
            return Err(missing(format!(
                "{place} has a character that a key cannot contain, such as a line break"
            )));
        }
        Ok(Some(Secret::new(key)))
    }
}

fn read(path: &Path) -> std::io::Result<String> {
    use std::io::{Error, Read};
    let mut text = String::new();
    let file = std::fs::File::open(path)?;
    file.take(MAX_FILE_BYTES + 1).read_to_string(&mut text)?;
    if text.len() as u64 > MAX_FILE_BYTES {
        Err(Error::other("it is too large for a key"))
    } else {
        Ok(text)
    }
}

// Manual implementation: a derived error would print the value, and users sometimes write the key
// itself there.
impl<'de> Deserialize<'de> for KeySource {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        from_json(Value::deserialize(deserializer)?).ok_or_else(|| D::Error::custom(FORMS))
    }
}

fn from_json(json: Value) -> Option<KeySource> {
    let fields = match json {
        Value::String(word) if word == "none" => return Some(KeySource::None),
        Value::Object(fields) if fields.len() == 1 => fields,
        _ => return None,
    };
    let (kind, value) = fields.into_iter().next()?;
    let Value::String(value) = value else {
        return None;
    };
    match kind.as_str() {
        "env" if is_variable(&value) => Some(KeySource::Env(value)),
        "file" => Some(KeySource::File(value.into())),
        "value" => Some(KeySource::value(value)),
        _ => None,
    }
}

/// Returns whether a variable can have this name. Keys usually cannot be such a name.
fn is_variable(name: &str) -> bool {
    let mut letters = name.chars();
    let is_letter = |c: char| c.is_ascii_alphabetic() || c == '_';
    letters.next().is_some_and(is_letter) && letters.all(|c| is_letter(c) || c.is_ascii_digit())
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn context() -> ProviderContext {
        ProviderContext::new("acme").with_environment([
            ("KEY".into(), " sk-env \n".into()),
            ("BLANK".into(), " \n".into()),
            ("BROKEN".into(), "sk-1\nsk-2".into()),
        ])
    }

    #[test]
    fn key_is_read_from_each_source() {
        let folder = tempfile::tempdir().expect("a folder");
        let file = folder.path().join("key");
        std::fs::write(&file, "sk-file\n").expect("writable");
        let context = context().with_folder(folder.path());
        for (source, expected) in [
            (json!("none"), None),
            (json!({"env": "KEY"}), Some("sk-env")),
            (json!({"file": file}), Some("sk-file")),
            (json!({"file": "key"}), Some("sk-file")),
            (json!({"value": "sk-value"}), Some("sk-value")),
        ] {
            let read: KeySource = serde_json::from_value(source.clone()).expect("a source");

            let key = read.resolve(&context).expect("it is there");

            assert_eq!(key.as_ref().map(Secret::expose), expected, "{source}");
        }
    }

    #[test]
    fn a_key_that_is_missing_is_named_by_its_place() {
        for (source, expected) in [
            (json!({"env": "NONE"}), "the variable NONE is not set"),
            (json!({"env": "BLANK"}), "the variable BLANK is blank"),
            (
                json!({"env": "BROKEN"}),
                "the variable BROKEN has a character that a key cannot contain",
            ),
            (
                json!({"file": "/no/such/key"}),
                "the file /no/such/key cannot be read: ",
            ),
            (json!({"file": "key"}), "the file key is a relative path"),
            (
                json!({"file": "/dev/zero"}),
                "the file /dev/zero cannot be read: it is too large",
            ),
            (json!({"value": ""}), "the value is blank"),
            (
                json!({"value": "[redacted]"}),
                "it was redacted when the configuration was saved",
            ),
        ] {
            let read: KeySource = serde_json::from_value(source.clone()).expect("a source");

            let error = read.resolve(&context()).expect_err("it is missing");

            assert_eq!(error.code, ModelErrorCode::ProviderNotConfigured);
            let expected = format!("no key for acme: {expected}");
            assert!(error.message.starts_with(&expected), "{}", error.message);
            assert!(!error.message.contains("sk-"), "{}", error.message);
        }
    }

    #[test]
    fn a_key_in_the_wrong_field_is_refused_and_redacted() {
        for mistake in [
            json!("sk-secret"),
            json!({"env": "sk-secret"}),
            json!({"key": "sk-secret"}),
            json!({"sk-secret": "env"}),
            json!({"env": ["sk-secret"]}),
            json!({"env": "A", "value": "sk-secret"}),
            json!(["sk-secret"]),
            json!({}),
        ] {
            let error = serde_json::from_value::<KeySource>(mistake.clone());

            let error = error.expect_err("it is no source").to_string();
            assert!(
                error.contains("env") && !error.contains("sk-secret"),
                "{error}"
            );
        }
    }

    #[test]
    fn a_source_can_be_written_down_but_a_key_is_not() {
        for (source, expected) in [
            (KeySource::env("KEY"), json!({"env": "KEY"})),
            (KeySource::File("/k".into()), json!({"file": "/k"})),
            (KeySource::value("sk-1"), json!({"value": "[redacted]"})),
            (KeySource::None, json!("none")),
        ] {
            let written = serde_json::to_value(&source).expect("it can be written");
            assert_eq!(written, expected);
            serde_json::from_value::<KeySource>(written).expect("it can be read");
        }
    }
}
