//! Characters that are written with a percent sign.

/// Replaces `%2e` and its like by the character that they stand for in addresses.
pub(crate) fn percent_decoded(text: &str) -> String {
    let mut bytes = Vec::with_capacity(text.len());
    let mut left = text.as_bytes();
    while let Some((first, behind)) = left.split_first() {
        let (byte, behind) = encoded(left).unwrap_or((*first, behind));
        bytes.push(byte);
        left = behind;
    }
    String::from_utf8_lossy(&bytes).into_owned()
}

/// Reads an encoded byte and returns it with what follows.
fn encoded(text: &[u8]) -> Option<(u8, &[u8])> {
    let (digits, behind) = text.strip_prefix(b"%")?.split_at_checked(2)?;
    let digit = |at: usize| char::from(digits[at]).to_digit(16);
    let byte = u8::try_from(digit(0)? * 16 + digit(1)?).ok()?;
    Some((byte, behind))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_encoded_is_decoded_and_the_rest_stays() {
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
