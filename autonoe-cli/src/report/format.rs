//! Formats amounts, times and counts for people.

use autonoe_core::CostUsd;
use autonoe_core::agent::{CostTotal, TokenUsage};
use autonoe_core::time::format_duration;
use jiff::Timestamp;
use jiff::tz::TimeZone;

use super::scale::since;

/// Formats an amount to the cent, and small ones to a hundredth of a cent.
pub(super) fn money(cost: CostUsd) -> String {
    const PER_CENT: u64 = 10_000_000_000;
    const PER_HUNDREDTH: u64 = PER_CENT / 100;
    let picos = cost.picos();
    if picos == 0 || picos >= PER_CENT {
        let cents = picos / PER_CENT + u64::from(picos % PER_CENT >= PER_CENT / 2);
        format!("${}.{:02}", cents / 100, cents % 100)
    } else if picos < PER_HUNDREDTH {
        "below $0.0001".to_owned()
    } else {
        let rest = picos % PER_HUNDREDTH;
        let hundredths = picos / PER_HUNDREDTH + u64::from(rest >= PER_HUNDREDTH / 2);
        format!("${}.{:04}", hundredths / 10_000, hundredths % 10_000)
    }
}

/// Formats a sum. With unknown parts it is a lower bound.
pub(super) fn total(cost: CostTotal) -> String {
    match cost.exact() {
        Some(exact) => money(exact),
        None if cost.known_usd == CostUsd::ZERO => "unknown".to_owned(),
        None => format!("at least {}", money(cost.known_usd)),
    }
}

/// Formats a time: `1 Jan 2026, 05:00`.
pub(super) fn date_and_time(at: Timestamp) -> String {
    let at = at.to_zoned(TimeZone::UTC);
    at.strftime("%-d %b %Y, %H:%M").to_string()
}

/// Formats a time for programs: `2026-01-01T05:00:00Z`.
pub(super) fn machine_time(at: Timestamp) -> String {
    let at = at.to_zoned(TimeZone::UTC);
    at.strftime("%Y-%m-%dT%H:%M:%SZ").to_string()
}

/// Formats the time since the start: `+1h 2m`.
pub(super) fn offset(from: Timestamp, at: Timestamp) -> String {
    format!("+{}", format_duration(since(from, at)))
}

/// Formats a count with its noun: `1 session`, `2 sessions`.
pub(super) fn pluralize(count: usize, noun: &str) -> String {
    match count {
        1 => format!("1 {noun}"),
        count => format!("{} {noun}s", thousands(count as u64)),
    }
}

/// Formats a number in groups of three digits.
pub(crate) fn thousands(number: u64) -> String {
    let digits = number.to_string();
    let mut text = String::new();
    for (place, digit) in digits.chars().enumerate() {
        if place > 0 && (digits.len() - place).is_multiple_of(3) {
            text.push(',');
        }
        text.push(digit);
    }
    text
}

/// Formats the numbers of input and output tokens; `None` if they are unknown.
pub(super) fn tokens(tokens: &TokenUsage) -> Option<String> {
    let (prompt, completion) = (tokens.prompt(), tokens.completion());
    (prompt + completion > 0).then(|| {
        let (prompt, completion) = (thousands(prompt), thousands(completion));
        format!("{prompt} tokens in, {completion} out")
    })
}

/// Capitalises the first letter.
pub(super) fn capitalize(text: &str) -> String {
    let mut characters = text.chars();
    match characters.next() {
        Some(first) => first.to_uppercase().chain(characters).collect(),
        None => String::new(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn amounts_are_rounded_for_reading() {
        for (amount, text) in [
            ("0", "$0.00"),
            ("1234.5", "$1234.50"),
            ("0.125", "$0.13"),
            ("0.0049", "$0.0049"),
            ("0.00996", "$0.0100"),
            ("0.000004", "below $0.0001"),
        ] {
            let amount: CostUsd = amount.parse().expect("an amount");
            assert_eq!(money(amount), text);
        }
    }

    #[test]
    fn an_unknown_cost_is_not_zero() {
        assert_eq!(total(CostTotal::unknown()), "unknown");
        assert_eq!(
            total(CostTotal::at_least(CostUsd::from_cents(150))),
            "at least $1.50"
        );
        assert_eq!(total(CostTotal::default()), "$0.00");
    }

    #[test]
    fn numbers_have_groups() {
        for (number, text) in [
            (0, "0"),
            (999, "999"),
            (1000, "1,000"),
            (1_234_567, "1,234,567"),
        ] {
            assert_eq!(thousands(number), text);
        }
        assert_eq!(pluralize(1, "session"), "1 session");
        assert_eq!(pluralize(0, "session"), "0 sessions");
    }
}
