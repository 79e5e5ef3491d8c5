//! Values that no other program may get.

use std::ffi::{OsStr, OsString};

/// Values that no other program may get, under whatever name they stand.
#[derive(Clone, Default, PartialEq, Eq)]
pub(crate) struct KnownSecrets(Vec<OsString>);

impl KnownSecrets {
    /// Adds one. An empty text is no secret: every value has it in it.
    pub(crate) fn add(&mut self, secret: impl Into<OsString>) {
        let secret = secret.into();
        if !secret.is_empty() {
            self.0.push(secret);
        }
    }

    /// Tells whether a secret is in `value`.
    pub(crate) fn are_in(&self, value: &OsStr) -> bool {
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
    fn a_secret_is_found_wherever_it_stands_in_a_value() {
        let mut secrets = KnownSecrets::default();
        secrets.add("");
        secrets.add("sk-1");

        for (value, is_in) in [
            ("sk-1", true),
            ("Bearer sk-1", true),
            ("sk-", false),
            ("", false),
        ] {
            assert_eq!(secrets.are_in(OsStr::new(value)), is_in, "{value:?}");
        }
    }
}
