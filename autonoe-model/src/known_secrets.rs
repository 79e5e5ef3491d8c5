//! [`KnownSecrets`]: values that must not reach other programs.

use std::ffi::{OsStr, OsString};

/// Values that must not reach other programs, whatever variable contains them.
#[derive(Clone, Default, PartialEq, Eq)]
pub(crate) struct KnownSecrets(Vec<OsString>);

impl KnownSecrets {
    /// Adds a secret. An empty text is ignored, because every value contains it.
    pub(crate) fn add(&mut self, secret: impl Into<OsString>) {
        let secret = secret.into();
        if !secret.is_empty() {
            self.0.push(secret);
        }
    }

    /// Returns whether `value` contains a secret.
    pub(crate) fn occur_in(&self, value: &OsStr) -> bool {
        let value = value.as_encoded_bytes();
        self.0
            .iter()
            .any(|secret| memchr::memmem::find(value, secret.as_encoded_bytes()).is_some())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn secret_is_found_anywhere_in_a_value() {
        let mut secrets = KnownSecrets::default();
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
