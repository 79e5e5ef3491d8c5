//! [`Secret`]: text that is never printed or serialized; [`SecretSet`]: secrets that must reach
//! neither errors nor other programs.

use std::ffi::OsStr;
use std::fmt;
use std::sync::Arc;

use schemars::{JsonSchema, Schema, SchemaGenerator};
use serde::{Deserialize, Serialize, Serializer};

use crate::contract::ModelError;

/// Replacement for a secret.
const REDACTED: &str = "[redacted]";

/// Maximum length of a provider's message in characters.
const MAX_CHARS: usize = 600;

/// Minimum length of secrets to remove from texts. Shorter ones occur everywhere: removing them
/// would hide nothing and garble everything.
const MIN_LEN: usize = 4;

/// A secret text, for example a key. Neither formatting nor serialization reveals it.
///
/// ```
/// use autonoe_model::Secret;
///
/// let key = Secret::new("sk-123");
///
/// assert_eq!(format!("{key} {key:?}"), "[redacted] Secret([redacted])");
/// assert_eq!(serde_json::to_string(&key)?, r#""[redacted]""#);
/// assert_eq!(key.expose(), "sk-123");
/// # Ok::<(), serde_json::Error>(())
/// ```
#[derive(Clone, PartialEq, Eq, Deserialize)]
#[serde(from = "String")]
pub struct Secret(Arc<str>);

impl Secret {
    /// Creates a secret.
    pub fn new(word: impl Into<String>) -> Self {
        Self(word.into().into())
    }

    /// Returns the secret text. The caller must not print it.
    pub fn expose(&self) -> &str {
        &self.0
    }

    /// Returns whether this is only the replacement of a serialized secret.
    pub fn is_redacted(&self) -> bool {
        &*self.0 == REDACTED
    }
}

impl From<String> for Secret {
    fn from(word: String) -> Self {
        Self::new(word)
    }
}

impl fmt::Display for Secret {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(REDACTED)
    }
}

impl fmt::Debug for Secret {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Secret({REDACTED})")
    }
}

impl Serialize for Secret {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.serialize_str(REDACTED)
    }
}

impl JsonSchema for Secret {
    fn schema_name() -> std::borrow::Cow<'static, str> {
        "Secret".into()
    }

    fn json_schema(generator: &mut SchemaGenerator) -> Schema {
        String::json_schema(generator)
    }
}

/// Secrets that must reach neither errors nor other programs.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct SecretSet(Vec<Secret>);

impl SecretSet {
    /// Adds a secret. An empty text is ignored, because every value contains it.
    pub fn add(&mut self, secret: impl Into<String>) {
        let secret = Secret::new(secret);
        // A secret may be a part of another one, so the longest come first.
        let longer = |other: &Secret| other.expose().len() > secret.expose().len();
        let at = self.0.partition_point(longer);
        if !secret.expose().is_empty() {
            self.0.insert(at, secret);
        }
    }

    /// Returns whether `value` contains a secret.
    pub(crate) fn occur_in(&self, value: &OsStr) -> bool {
        let value = value.as_encoded_bytes();
        let mut secrets = self.0.iter().map(|secret| secret.expose().as_bytes());
        secrets.any(|secret| memchr::memmem::find(value, secret).is_some())
    }

    /// Removes the secrets from an error, and truncates its message. Some providers repeat the key
    /// that they reject. Truncation comes last, because a truncated secret would not be found.
    pub(crate) fn redact(&self, mut error: ModelError) -> ModelError {
        let secrets = self.0.iter().map(Secret::expose);
        for secret in secrets.filter(|secret| secret.len() >= MIN_LEN) {
            let texts = [&mut error.reason, &mut error.request_id];
            for text in texts.into_iter().flatten().chain([&mut error.message]) {
                if text.contains(secret) {
                    *text = text.replace(secret, REDACTED);
                }
            }
        }
        if let Some((end, _)) = error.message.char_indices().nth(MAX_CHARS) {
            error.message.truncate(end);
            error.message.push_str(" ..");
        }
        error
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::contract::ModelErrorCode;

    #[test]
    fn no_error_repeats_a_secret() {
        let mut secrets = SecretSet::default();
        for secret in ["sk-1", "sk-12345", "x"] {
            secrets.add(secret);
        }
        let error = ModelError::new(
            ModelErrorCode::AuthenticationError,
            "exactly sk-12345, and sk-1",
        )
        .with_reason("sk-12345".to_owned())
        .with_request_id("req-sk-1".to_owned());

        let error = secrets.redact(error);

        assert_eq!(error.message, "exactly [redacted], and [redacted]");
        assert_eq!(error.reason.as_deref(), Some("[redacted]"));
        assert_eq!(error.request_id.as_deref(), Some("req-[redacted]"));
    }

    #[test]
    fn truncation_never_leaves_part_of_a_secret() {
        let mut secrets = SecretSet::default();
        secrets.add("key-of-the-gateway");
        for before in MAX_CHARS - 20..=MAX_CHARS {
            let message = format!("{}key-of-the-gateway, and more", "é".repeat(before));
            let error = ModelError::new(ModelErrorCode::Unknown, message);

            let message = secrets.redact(error).message;

            assert!(!message.contains("key"), "{before}: {message}");
            assert!(message.chars().count() <= MAX_CHARS + 3, "{message}");
        }
    }

    #[test]
    fn serialized_secret_is_recognized_as_redacted() {
        let key = Secret::new("sk-123");
        let json = serde_json::to_string(&key).expect("it can be written");

        let loaded: Secret = serde_json::from_str(&json).expect("it can be read");

        assert!(loaded.is_redacted() && !key.is_redacted());
    }

    #[test]
    fn secret_is_found_anywhere_in_a_value() {
        let mut secrets = SecretSet::default();
        secrets.add("");
        secrets.add("sk-1");

        for (value, is_in) in [
            ("sk-1", true),
            ("Bearer sk-1", true),
            ("sk-", false),
            ("", false),
        ] {
            assert_eq!(secrets.occur_in(OsStr::new(value)), is_in, "{value:?}");
        }
    }
}
