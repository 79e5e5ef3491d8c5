//! Validates names of branches and folders.

use super::IsolationError;

/// Maximum length of a name in bytes. File names are limited to 255 bytes, and an exploration is
/// named after the member, the task and the approach.
const LONGEST: usize = 200;

/// Checks a name that becomes part of a branch and of a folder.
///
/// # Errors
///
/// It cannot be such a part on some system.
pub(crate) fn check(name: &str) -> Result<(), IsolationError> {
    let plain = |byte: u8| byte.is_ascii_alphanumeric() || b"-_.".contains(&byte);
    let reason = match name {
        "" => "it is empty",
        name if name.len() > LONGEST => "it is too long",
        name if !name.bytes().all(plain) => "it may only contain letters, digits, '-', '_' and '.'",
        name if name.starts_with(['-', '.']) => "it starts with '-' or '.'",
        name if name.ends_with('.') || name.ends_with(".lock") => "it ends with '.' or \".lock\"",
        name if name.contains("..") => "it has two dots in a row",
        _ => return Ok(()),
    };
    Err(IsolationError::InvalidName {
        name: name.to_owned(),
        reason,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_are_plain() {
        for (name, fits) in [
            ("a", true),
            ("T-1.b_2", true),
            ("", false),
            ("-a", false),
            (".a", false),
            ("a.", false),
            ("a.lock", false),
            ("a..b", false),
            ("a/b", false),
            ("a b", false),
            ("ä", false),
            ("a~1", false),
        ] {
            assert_eq!(check(name).is_ok(), fits, "{name:?}");
        }
        assert!(check(&"a".repeat(201)).is_err());
    }
}
