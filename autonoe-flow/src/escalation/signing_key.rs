//! [`SigningKey`]: signs webhook requests.

use std::collections::BTreeMap;
use std::fmt;
use std::str::FromStr;

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use hmac::{Hmac, KeyInit, Mac};
use jiff::Timestamp;
use sha2::Sha256;

/// Prefix of encoded keys.
const PREFIX: &str = "whsec_";

/// Allowed lengths of a key, in bytes.
const LENGTHS: std::ops::RangeInclusive<usize> = 24..=64;

/// A key that signs webhook requests as specified by Standard Webhooks. Its text form is `whsec_`
/// and 24 to 64 bytes in base64.
///
/// Its `Debug` output is redacted.
///
/// ```
/// use autonoe_flow::escalation::SigningKey;
///
/// let key: SigningKey = "whsec_AAECAwQFBgcICQoLDA0ODxAREhMUFRYXGBkaGxwdHh8=".parse()?;
///
/// assert_eq!(format!("{key:?}"), "SigningKey([redacted])");
/// # Ok::<(), autonoe_flow::escalation::InvalidSigningKey>(())
/// ```
#[derive(Clone)]
pub struct SigningKey(Hmac<Sha256>);

/// A text is not a valid [`SigningKey`]. The error does not repeat the text.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("a signing key must be `whsec_` followed by 24 to 64 bytes in base64")]
pub struct InvalidSigningKey(());

impl SigningKey {
    /// Creates a key from its bytes.
    ///
    /// # Errors
    ///
    /// The key has fewer than 24 or more than 64 bytes.
    pub fn from_bytes(bytes: &[u8]) -> Result<Self, InvalidSigningKey> {
        if !LENGTHS.contains(&bytes.len()) {
            return Err(InvalidSigningKey(()));
        }
        let mac = Hmac::new_from_slice(bytes);
        mac.map(Self).map_err(|_| InvalidSigningKey(()))
    }

    /// Signs `body` with `id` and `at`. Returns the value of the header `webhook-signature`.
    pub(super) fn sign(&self, id: &str, at: Timestamp, body: &[u8]) -> String {
        let mut mac = self.0.clone();
        mac.update(format!("{id}.{}.", at.as_second()).as_bytes());
        mac.update(body);
        let signature = STANDARD.encode(mac.finalize().into_bytes());
        format!("v1,{signature}")
    }
}

impl FromStr for SigningKey {
    type Err = InvalidSigningKey;

    fn from_str(text: &str) -> Result<Self, InvalidSigningKey> {
        let invalid = || InvalidSigningKey(());
        let encoded = text.trim().strip_prefix(PREFIX).ok_or_else(invalid)?;
        let bytes = STANDARD.decode(encoded).map_err(|_| invalid())?;
        Self::from_bytes(&bytes)
    }
}

impl fmt::Debug for SigningKey {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("SigningKey([redacted])")
    }
}

/// Signing keys by the names that definitions use.
#[derive(Clone, Debug, Default)]
pub struct SigningKeys(BTreeMap<String, SigningKey>);

impl SigningKeys {
    /// Adds a key. A later key replaces an earlier one of the same name.
    #[must_use]
    pub fn with(mut self, name: impl Into<String>, key: SigningKey) -> Self {
        self.0.insert(name.into(), key);
        self
    }

    pub(super) fn get(&self, name: &str) -> Option<&SigningKey> {
        self.0.get(name)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_signature_is_that_of_the_standard() {
        // Computed with the `hmac` module of Python.
        let key: SigningKey = "whsec_AAECAwQFBgcICQoLDA0ODxAREhMUFRYXGBkaGxwdHh8="
            .parse()
            .expect("a key");
        let at = Timestamp::from_second(1_770_000_000).expect("a time");

        let signature = key.sign("run-1-4", at, br#"{"type":"flow.escalated"}"#);

        let expected = "v1,jybEbx6C/0ls8UUoqYxWVaFmafyEjTF4QxYT+Vm3HGc=";
        assert_eq!(signature, expected);
    }

    #[test]
    fn a_text_that_is_no_key_is_refused_and_not_repeated() {
        for text in [
            "",
            "whsec_",
            "AAECAwQFBgcICQoLDA0ODxAREhMUFRYXGBkaGxwdHh8=",
            "whsec_c2hvcnQ=",
            "whsec_not base64",
        ] {
            let error = text.parse::<SigningKey>().expect_err(text).to_string();
            assert_eq!(
                error,
                "a signing key must be `whsec_` followed by 24 to 64 bytes in base64"
            );
        }
        assert!(SigningKey::from_bytes(&[0; 65]).is_err());
    }
}
