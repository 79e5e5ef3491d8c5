//! Character classes of texts.

/// Returns whether `text` consists of ASCII letters, digits and `others`.
pub(crate) fn has_only(text: &str, others: &str) -> bool {
    let is_one = |byte: u8| byte.is_ascii_alphanumeric() || others.as_bytes().contains(&byte);
    text.bytes().all(is_one)
}

/// Returns whether `text` consists of decimal digits, or is empty.
pub(crate) fn is_digits(text: &str) -> bool {
    text.bytes().all(|byte| byte.is_ascii_digit())
}

/// Returns whether `text` is an unsigned decimal number.
pub(crate) fn is_number(text: &str) -> bool {
    !text.is_empty() && is_digits(text)
}
