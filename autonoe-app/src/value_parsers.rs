//! Parsers of amounts and durations.

use std::time::Duration;

use autonoe_core::CostUsd;
use autonoe_core::agent::ThinkingBudget;
use jiff::SignedDuration;

/// Parses an amount of dollars: `2.50`, `$3`.
pub fn cost(text: &str) -> Result<CostUsd, String> {
    let amount = text.strip_prefix('$').unwrap_or(text);
    match amount.parse() {
        Ok(CostUsd::ZERO) => Err("the budget must be more than 0".to_owned()),
        Ok(cost) => Ok(cost),
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
    let duration: SignedDuration = text.parse().map_err(|_| wrong())?;
    Duration::try_from(duration).map_err(|_| wrong())
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

    // Shows: spec/8.1/thinking
    #[test]
    fn thinking_takes_at_least_1024_tokens() {
        assert_eq!(thinking("1024").map(ThinkingBudget::tokens), Ok(1024));
        for wrong in ["1023", "0", "much", "-1"] {
            assert!(thinking(wrong).is_err(), "{wrong:?}");
        }
    }
}
