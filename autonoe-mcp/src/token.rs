//! Secrets that let agents in.

use std::fmt;

use autonoe_core::ToolServerError;
use subtle::ConstantTimeEq;

/// How many random bytes a secret has.
const BYTES: usize = 32;

/// A secret that lets the agent of one session in. It is shown nowhere.
#[derive(Clone)]
pub(crate) struct Token(String);

impl Token {
    /// Makes one that nobody can guess.
    pub(crate) fn random() -> Result<Self, ToolServerError> {
        random_name().map(Self)
    }

    /// Tells whether `said` is the secret. That takes as long for any text of its length.
    pub(crate) fn is(&self, said: &[u8]) -> bool {
        self.0.as_bytes().ct_eq(said).into()
    }

    /// Returns the secret itself, for who is let in.
    pub(crate) fn reveal(&self) -> &str {
        &self.0
    }
}

impl fmt::Debug for Token {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Token(..)")
    }
}

/// Makes a name that nobody can guess.
pub(crate) fn random_name() -> Result<String, ToolServerError> {
    let mut bytes = [0; BYTES];
    getrandom::fill(&mut bytes)
        .map_err(|error| ToolServerError::new("there is no randomness").because(error))?;
    Ok(bytes.iter().map(|byte| format!("{byte:02x}")).collect())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_secret_is_itself_and_nothing_else() {
        let token = Token::random().expect("there is randomness");
        let other = Token::random().expect("there is randomness");
        let text = token.reveal();

        assert!(token.is(text.as_bytes()));
        assert_eq!(text.len(), 2 * BYTES);
        for wrong in ["", &text[1..], &format!("{text}0"), other.reveal()] {
            assert!(!token.is(wrong.as_bytes()));
        }
    }

    #[test]
    fn a_secret_is_not_shown() {
        let token = Token::random().expect("there is randomness");

        assert!(!format!("{token:?}").contains(token.reveal()));
    }
}
