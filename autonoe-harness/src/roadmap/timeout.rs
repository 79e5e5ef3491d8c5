//! Parses the time limit of a task.

/// Parses `90s`, `20m`, `2h` or a plain number of minutes, and returns seconds.
pub(super) fn parse_timeout(text: &str) -> Result<u64, String> {
    let wrong = || format!("{text:?} is not a duration: write 90s, 20m or 2h");
    let digits = text.trim_end_matches(|letter: char| !letter.is_ascii_digit());
    let count: u64 = digits.parse().map_err(|_| wrong())?;
    let unit = match text[digits.len()..].trim() {
        "s" | "sec" | "seconds" => 1,
        "" | "m" | "min" | "minutes" => 60,
        "h" | "hours" => 3600,
        _ => return Err(wrong()),
    };
    match count.checked_mul(unit) {
        Some(0) => Err("the timeout is 0; write 90s, 20m or 2h".to_owned()),
        Some(seconds) => Ok(seconds),
        None => Err(format!("{text:?} is too long")),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn times_have_units_and_minutes_need_none() {
        for (text, expected) in [
            ("90s", Some(90)),
            ("20m", Some(1200)),
            ("20 min", Some(1200)),
            ("30", Some(1800)),
            ("2h", Some(7200)),
            ("0", None),
            ("", None),
            ("h", None),
            ("-5m", None),
            ("1.5h", None),
            ("5 parsecs", None),
            ("99999999999999999999", None),
            ("18446744073709551615h", None),
        ] {
            assert_eq!(parse_timeout(text).ok(), expected, "{text:?}");
        }
    }
}
