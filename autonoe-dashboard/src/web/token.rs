//! The secret that lets browsers in.

use std::fmt;

use subtle::ConstantTimeEq;

/// How many random bytes a secret has.
const BYTES: usize = 32;

/// The fewest characters that a secret of the caller may have.
const LEAST: usize = 16;

/// The secret that lets browsers in. It is shown nowhere but where [`reveal`](Self::reveal) is called.
///
/// ```
/// use autonoe_dashboard::web::ViewToken;
///
/// let token = ViewToken::random()?;
///
/// assert_eq!(format!("{token:?}"), "ViewToken(..)");
/// assert!(ViewToken::new("short").is_err());
/// # Ok::<(), autonoe_dashboard::web::InvalidToken>(())
/// ```
#[derive(Clone)]
pub struct ViewToken(String);

impl ViewToken {
    /// Makes one that nobody can guess.
    ///
    /// # Errors
    ///
    /// The system has no randomness.
    pub fn random() -> Result<Self, InvalidToken> {
        let mut bytes = [0; BYTES];
        getrandom::fill(&mut bytes).map_err(|_| InvalidToken::NoRandomness)?;
        Ok(Self(
            bytes.iter().map(|byte| format!("{byte:02x}")).collect(),
        ))
    }

    /// Takes a secret of the caller, for example one that outlives the server.
    ///
    /// # Errors
    ///
    /// It has fewer than 16 characters, or others than letters, digits, `-` and `_`.
    pub fn new(secret: impl Into<String>) -> Result<Self, InvalidToken> {
        let secret = secret.into();
        let fits = |byte: u8| byte.is_ascii_alphanumeric() || byte == b'-' || byte == b'_';
        match secret.len() >= LEAST && secret.bytes().all(fits) {
            true => Ok(Self(secret)),
            false => Err(InvalidToken::Unfit),
        }
    }

    /// Tells whether `said` is the secret. That takes as long for any text of its length.
    pub(super) fn is(&self, said: &[u8]) -> bool {
        self.0.as_bytes().ct_eq(said).into()
    }

    /// Returns the secret itself, for who is let in.
    pub fn reveal(&self) -> &str {
        &self.0
    }
}

impl fmt::Debug for ViewToken {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("ViewToken(..)")
    }
}

/// Why there is no secret.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum InvalidToken {
    /// It could be guessed, or does not fit in an address.
    #[error("a token has at least 16 letters, digits, - or _")]
    Unfit,
    /// The system has no randomness.
    #[error("there is no randomness for a token")]
    NoRandomness,
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_secret_is_itself_and_nothing_else() {
        let token = ViewToken::random().expect("there is randomness");
        let other = ViewToken::random().expect("there is randomness");
        let text = token.reveal();

        assert!(token.is(text.as_bytes()));
        for wrong in ["", &text[1..], &format!("{text}0"), other.reveal()] {
            assert!(!token.is(wrong.as_bytes()));
        }
    }

    #[test]
    fn a_secret_of_the_caller_is_long_and_fits_in_an_address() {
        assert!(ViewToken::new("0123456789abcdef").is_ok());
        for unfit in [
            "",
            "0123456789abcde",
            "0123456789abcde&",
            "0123456789abcde ü",
        ] {
            assert!(ViewToken::new(unfit).is_err(), "{unfit:?}");
        }
    }
}
