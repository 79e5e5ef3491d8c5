//! [`ViewToken`]: secret for access to the web view.

use std::fmt;

use subtle::ConstantTimeEq;

/// Number of random bytes of a secret.
const BYTES: usize = 32;

/// Minimum length of a caller's secret in characters.
const MIN_CHARS: usize = 16;

/// Secret for access to the web view. Only [`reveal`](Self::reveal) exposes it.
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
    /// Generates an unguessable token.
    ///
    /// # Errors
    ///
    /// The system's random source failed.
    pub fn random() -> Result<Self, InvalidToken> {
        let mut bytes = [0; BYTES];
        getrandom::fill(&mut bytes).map_err(|_| InvalidToken::NoRandomness)?;
        Ok(Self(
            bytes.iter().map(|byte| format!("{byte:02x}")).collect(),
        ))
    }

    /// Uses the caller's secret, for example one that outlives the server.
    ///
    /// # Errors
    ///
    /// The secret has fewer than 16 characters, or characters other than letters, digits, `-` and
    /// `_`.
    pub fn new(secret: impl Into<String>) -> Result<Self, InvalidToken> {
        let secret = secret.into();
        let fits = |byte: u8| byte.is_ascii_alphanumeric() || byte == b'-' || byte == b'_';
        if secret.len() >= MIN_CHARS && secret.bytes().all(fits) {
            Ok(Self(secret))
        } else {
            Err(InvalidToken::Malformed)
        }
    }

    /// Returns whether `presented` is the secret, in constant time for a given length.
    pub(super) fn matches(&self, presented: &[u8]) -> bool {
        self.0.as_bytes().ct_eq(presented).into()
    }

    /// Returns the secret itself, to pass it to the user.
    pub fn reveal(&self) -> &str {
        &self.0
    }
}

impl fmt::Debug for ViewToken {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("ViewToken(..)")
    }
}

/// Reason that there is no token.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum InvalidToken {
    /// The token is too short, or does not fit in a URL.
    #[error("a token has at least 16 letters, digits, - or _")]
    Malformed,
    /// The system's random source failed.
    #[error("no random bytes are available for a token")]
    NoRandomness,
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_secret_matches_only_itself() {
        let token = ViewToken::random().expect("there is randomness");
        let other = ViewToken::random().expect("there is randomness");
        let text = token.reveal();

        assert!(token.matches(text.as_bytes()));
        for wrong in ["", &text[1..], &format!("{text}0"), other.reveal()] {
            assert!(!token.matches(wrong.as_bytes()));
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
