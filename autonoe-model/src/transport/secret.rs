//! [`Secret`]: text that is never printed or serialized.

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

/// All secrets of a connection, to remove them from messages of providers: some repeat the key that
/// they reject.
#[derive(Clone, Debug, Default)]
pub(crate) struct SecretSet(Vec<Secret>);

impl SecretSet {
    pub(crate) fn new(secrets: impl IntoIterator<Item = Secret>) -> Self {
        let mut secrets: Vec<Secret> = secrets.into_iter().collect();
        secrets.retain(|secret| secret.expose().len() >= MIN_LEN);
        // A secret may be a part of another one.
        secrets.sort_by_key(|secret| std::cmp::Reverse(secret.expose().len()));
        Self(secrets)
    }

    /// Removes the secrets from an error, and truncates its message. Truncation comes last, because
    /// a truncated secret would not be found.
    pub(crate) fn redact(&self, error: ModelError) -> ModelError {
        let mut error = error;
        let texts = [&mut error.reason, &mut error.request_id];
        for text in texts.into_iter().flatten().chain([&mut error.message]) {
            for secret in &self.0 {
                if text.contains(secret.expose()) {
                    *text = text.replace(secret.expose(), REDACTED);
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
        let words = SecretSet::new([
            Secret::new("sk-1"),
            Secret::new("sk-12345"),
            Secret::new("x"),
        ]);
        let error = ModelError::new(
            ModelErrorCode::AuthenticationError,
            "exactly sk-12345, and sk-1",
        )
        .with_reason("sk-12345".to_owned())
        .with_request_id("req-sk-1".to_owned());

        let error = words.redact(error);

        assert_eq!(error.message, "exactly [redacted], and [redacted]");
        assert_eq!(error.reason.as_deref(), Some("[redacted]"));
        assert_eq!(error.request_id.as_deref(), Some("req-[redacted]"));
    }

    #[test]
    fn truncation_never_leaves_part_of_a_secret() {
        let words = SecretSet::new([Secret::new("key-of-the-gateway")]);
        for before in MAX_CHARS - 20..=MAX_CHARS {
            let message = format!("{}key-of-the-gateway, and more", "é".repeat(before));
            let error = ModelError::new(ModelErrorCode::Unknown, message);

            let message = words.redact(error).message;

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
}
