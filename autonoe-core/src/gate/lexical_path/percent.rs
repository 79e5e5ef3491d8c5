//! Percent-decoding of URLs.

/// Replaces percent-escapes such as `%2e` with the characters that they denote in URLs.
pub(crate) fn percent_decoded(text: &str) -> String {
    let mut bytes = Vec::with_capacity(text.len());
    let mut left = text.as_bytes();
    while let Some((first, rest)) = left.split_first() {
        let (byte, rest) = decode_byte(left).unwrap_or((*first, rest));
        bytes.push(byte);
        left = rest;
    }
    String::from_utf8_lossy(&bytes).into_owned()
}

/// Decodes an escaped byte and returns it with the rest of the text.
fn decode_byte(text: &[u8]) -> Option<(u8, &[u8])> {
    let (digits, rest) = text.strip_prefix(b"%")?.split_at_checked(2)?;
    let digit = |at: usize| char::from(digits[at]).to_digit(16);
    let byte = u8::try_from(digit(0)? * 16 + digit(1)?).ok()?;
    Some((byte, rest))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn escapes_are_decoded_and_other_text_stays() {
        for (text, decoded) in [
            ("%2eautonoe", ".autonoe"),
            ("%C3%a9", "é"),
            ("100% of %zz and %2", "100% of %zz and %2"),
            ("%é%", "%é%"),
            ("", ""),
        ] {
            assert_eq!(percent_decoded(text), decoded, "{text}");
        }
    }
}
