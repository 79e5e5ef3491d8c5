//! Parsers of amounts and durations.

use std::time::Duration;

use autonoe_core::CostUsd;
use autonoe_core::agent::ThinkingBudget;
use jiff::SignedDuration;

/// The largest amount.
const MAX_COST: CostUsd = CostUsd::from_picos(u64::MAX);

/// The longest time: 876 000 hours, a hundred years. Times beyond it would leave the calendar.
const MAX_TIME: Duration = Duration::from_secs(876_000 * 60 * 60);

/// Parses an amount of dollars: `2.50`, `$3`.
pub fn cost(text: &str) -> Result<CostUsd, String> {
    let amount = text.strip_prefix('$').unwrap_or(text);
    match amount.parse() {
        Ok(CostUsd::ZERO) => Err("the budget must be more than 0".to_owned()),
        Ok(cost) => Ok(cost),
        Err(_) if is_number(amount) => {
            let dollars = MAX_COST.to_string();
            let whole = dollars
                .split_once('.')
                .map_or(&*dollars, |(whole, _)| whole);
            Err(format!("the amount is too large; the limit is {whole}"))
        }
        Err(_) => Err("expected an amount in dollars, for example 2.50".to_owned()),
    }
}

/// Parses a time budget: `90m`, `2h 30m`.
pub fn time(text: &str) -> Result<Duration, String> {
    match pause(text)? {
        Duration::ZERO => Err("the budget must be longer than 0s".to_owned()),
        duration => Ok(duration),
    }
}

/// Parses a duration, which may be zero: `0s`, `90m`, `2h 30m`.
pub fn pause(text: &str) -> Result<Duration, String> {
    let wrong = || "expected a duration with units, for example 90m or 2h30m".to_owned();
    let too_long = || "the duration is too long; the limit is 876000h".to_owned();
    let duration: SignedDuration = match text.parse() {
        Ok(duration) => duration,
        Err(_) if is_long(text) => return Err(too_long()),
        Err(_) => return Err(wrong()),
    };
    match Duration::try_from(duration) {
        Ok(duration) if duration > MAX_TIME => Err(too_long()),
        Ok(duration) => Ok(duration),
        Err(_) => Err(wrong()),
    }
}

/// Returns whether a text is a decimal number.
fn is_number(text: &str) -> bool {
    let mut digits = text.chars().filter(|c| *c != '.').peekable();
    digits.peek().is_some() && digits.all(|c| c.is_ascii_digit()) && text.matches('.').count() < 2
}

/// Returns whether the parser rejects a duration for its size: with other digits it is valid.
fn is_long(text: &str) -> bool {
    let mut small = String::new();
    for c in text.chars() {
        match (c.is_ascii_digit(), small.ends_with('1')) {
            (true, true) => {}
            (true, false) => small.push('1'),
            (false, _) => small.push(c),
        }
    }
    small.parse::<SignedDuration>().is_ok()
}

/// Parses a token budget for thinking.
pub fn thinking(text: &str) -> Result<ThinkingBudget, String> {
    let tokens: u32 = text
        .parse()
        .map_err(|_| "expected a number of tokens, for example 8192".to_owned())?;
    ThinkingBudget::new(tokens).map_err(|error| error.to_string())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn parses_amounts_as_dollars() {
        assert_eq!(cost("2.50"), Ok("2.5".parse().expect("an amount")));
        assert_eq!(cost("$3"), Ok("3".parse().expect("an amount")));
        for wrong in ["", "-1", "two", "0", "$0.00"] {
            assert!(cost(wrong).is_err(), "{wrong:?}");
        }
    }

    #[test]
    fn times_have_units() {
        assert_eq!(time("90m"), Ok(Duration::from_secs(5400)));
        assert_eq!(time("2h30m"), Ok(Duration::from_secs(9000)));
        assert_eq!(time("2h 30m"), Ok(Duration::from_secs(9000)));
        assert_eq!(pause("0s"), Ok(Duration::ZERO));
        for wrong in ["", "90", "-5m", "soon", "0s"] {
            assert!(time(wrong).is_err(), "{wrong:?}");
        }
    }

    #[test]
    fn values_that_are_too_large_are_reported_with_the_limit() {
        let error = cost("99999999999").expect_err("it is too large");
        assert_eq!(error, "the amount is too large; the limit is $18446744");
        assert!(cost("18446744").is_ok());
        for long in ["99999999999999999999h", "876001h", "99999999999h 5m"] {
            let error = time(long).expect_err("it is too long");
            assert_eq!(
                error, "the duration is too long; the limit is 876000h",
                "{long}"
            );
        }
        assert!(time("876000h").is_ok());
        for wrong in ["9999999999999999999999", "1e30h x"] {
            let error = time(wrong).expect_err("it is no duration");
            assert!(error.contains("with units"), "{wrong}: {error}");
        }
    }

    // Shows: spec/8.1/thinking
    #[test]
    fn thinking_takes_at_least_1024_tokens() {
        assert_eq!(thinking("1024").map(ThinkingBudget::tokens), Ok(1024));
        for wrong in ["1023", "0", "much", "-1"] {
            assert!(thinking(wrong).is_err(), "{wrong:?}");
        }
    }
}
