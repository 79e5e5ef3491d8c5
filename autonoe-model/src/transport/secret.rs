//! Words that nobody may see.

use std::fmt;
use std::sync::Arc;

use schemars::{JsonSchema, Schema, SchemaGenerator};
use serde::{Deserialize, Serialize, Serializer};

use crate::contract::ModelError;

/// Stands where a secret was.
const REDACTED: &str = "[redacted]";

/// The longest that is told of what a provider says.
const MOST_LETTERS: usize = 600;

/// Shorter ones are in every sentence: to remove them would hide nothing and garble all.
const LEAST_LENGTH: usize = 4;

/// A word that nobody may see, a key for example. Neither printed nor written down does it
/// show what it holds.
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
    /// Keeps a word.
    pub fn new(word: impl Into<String>) -> Self {
        Self(word.into().into())
    }

    /// Returns the word. Whoever asks for it must not show it.
    pub fn expose(&self) -> &str {
        &self.0
    }

    /// Tells whether it is only what was written in the place of a secret.
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

/// All secrets of a connection, to be kept out of what providers say: some repeat the key that
/// they refuse.
#[derive(Clone, Debug, Default)]
pub(crate) struct SecretWords(Vec<Secret>);

impl SecretWords {
    pub(crate) fn new(secrets: impl IntoIterator<Item = Secret>) -> Self {
        let mut secrets: Vec<Secret> = secrets.into_iter().collect();
        secrets.retain(|secret| secret.expose().len() >= LEAST_LENGTH);
        // One may be a part of another.
        secrets.sort_by_key(|secret| std::cmp::Reverse(secret.expose().len()));
        Self(secrets)
    }

    /// Returns an error without them, and not longer than anybody reads. It is cut afterwards: of a
    /// secret that is cut in two, the rest would not be found any more.
    pub(crate) fn removed_from(&self, error: ModelError) -> ModelError {
        let mut error = error;
        let texts = [&mut error.reason, &mut error.request_id];
        for text in texts.into_iter().flatten().chain([&mut error.message]) {
            for secret in &self.0 {
                if text.contains(secret.expose()) {
                    *text = text.replace(secret.expose(), REDACTED);
                }
            }
        }
        if let Some((end, _)) = error.message.char_indices().nth(MOST_LETTERS) {
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
        let words = SecretWords::new([
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

        let error = words.removed_from(error);

        assert_eq!(error.message, "exactly [redacted], and [redacted]");
        assert_eq!(error.reason.as_deref(), Some("[redacted]"));
        assert_eq!(error.request_id.as_deref(), Some("req-[redacted]"));
    }

    #[test]
    fn a_secret_at_the_end_of_what_is_told_is_not_told_in_part() {
        let words = SecretWords::new([Secret::new("key-of-the-gateway")]);
        for before in MOST_LETTERS - 20..=MOST_LETTERS {
            let said = format!("{}key-of-the-gateway, and more", "é".repeat(before));
            let error = ModelError::new(ModelErrorCode::Unknown, said);

            let message = words.removed_from(error).message;

            assert!(!message.contains("key"), "{before}: {message}");
            assert!(message.chars().count() <= MOST_LETTERS + 3, "{message}");
        }
    }

    #[test]
    fn what_was_written_in_its_place_is_known() {
        let key = Secret::new("sk-123");
        let json = serde_json::to_string(&key).expect("it can be written");

        let again: Secret = serde_json::from_str(&json).expect("it can be read");

        assert!(again.is_redacted() && !key.is_redacted());
    }
}
