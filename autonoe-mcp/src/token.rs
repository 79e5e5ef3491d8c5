//! Random secrets of sessions.

use std::fmt;

use autonoe_core::tool::ToolServerError;
use subtle::ConstantTimeEq;

/// Number of random bytes of a secret.
const BYTES: usize = 32;

/// Secret of one session. `Debug` does not print it.
#[derive(Clone)]
pub(crate) struct Token(String);

impl Token {
    /// Generates an unguessable secret.
    pub(crate) fn random() -> Result<Self, ToolServerError> {
        random_name().map(Self)
    }

    /// Returns whether `presented` is the secret, in constant time for a given length.
    pub(crate) fn matches(&self, presented: &[u8]) -> bool {
        self.0.as_bytes().ct_eq(presented).into()
    }

    /// Returns the secret itself, to pass it to the agent.
    pub(crate) fn reveal(&self) -> &str {
        &self.0
    }
}

impl fmt::Debug for Token {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Token(..)")
    }
}

/// Generates an unguessable name of hexadecimal digits.
pub(crate) fn random_name() -> Result<String, ToolServerError> {
    let mut bytes = [0; BYTES];
    getrandom::fill(&mut bytes).map_err(|error| {
        ToolServerError::new("the operating system returned no random numbers").with_source(error)
    })?;
    Ok(bytes.iter().map(|byte| format!("{byte:02x}")).collect())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_secret_matches_only_itself() {
        let token = Token::random().expect("there is randomness");
        let other = Token::random().expect("there is randomness");
        let text = token.reveal();

        assert!(token.matches(text.as_bytes()));
        assert_eq!(text.len(), 2 * BYTES);
        for wrong in ["", &text[1..], &format!("{text}0"), other.reveal()] {
            assert!(!token.matches(wrong.as_bytes()));
        }
    }

    #[test]
    fn a_secret_is_not_in_debug_output() {
        let token = Token::random().expect("there is randomness");

        assert!(!format!("{token:?}").contains(token.reveal()));
    }
}
