//! Formatting of costs and token counts.

use autonoe_core::CostUsd;
use autonoe_core::agent::CostTotal;

/// Formats a cost in dollars and cents, and marks a cost of which a part is unknown.
///
/// ```
/// use autonoe_core::agent::CostTotal;
/// use autonoe_core::CostUsd;
/// use autonoe_dashboard::format_cost;
///
/// let spent = CostUsd::from_cents(150);
/// assert_eq!(format_cost(&CostTotal::known(spent)), "$1.50");
/// assert_eq!(format_cost(&CostTotal::at_least(spent)), "≥ $1.50");
/// assert_eq!(format_cost(&CostTotal::unknown()), "unknown");
/// ```
pub fn format_cost(cost: &CostTotal) -> String {
    match (cost.known_usd, cost.unknown_parts) {
        (known, 0) => dollars(known),
        (CostUsd::ZERO, _) => "unknown".to_owned(),
        (known, _) if known < CostUsd::from_cents(1) => "> $0.00".to_owned(),
        (known, _) => format!("≥ {}", dollars(known)),
    }
}

/// Rounds to cents. A positive amount below a cent becomes `< $0.01`.
fn dollars(cost: CostUsd) -> String {
    const PICOS_PER_CENT: u64 = 10_000_000_000;
    let picos = cost.picos();
    if picos > 0 && picos < PICOS_PER_CENT {
        return "< $0.01".to_owned();
    }
    let up = u64::from(picos % PICOS_PER_CENT >= PICOS_PER_CENT / 2);
    let cents = picos / PICOS_PER_CENT + up;
    format!("${}.{:02}", cents / 100, cents % 100)
}

/// Formats a number of tokens with a unit prefix (`k`, `M`, `G`), rounded down.
///
/// ```
/// use autonoe_dashboard::format_tokens;
///
/// assert_eq!(format_tokens(999), "999");
/// assert_eq!(format_tokens(12_345), "12.3k");
/// assert_eq!(format_tokens(7_000_000), "7.0M");
/// ```
pub fn format_tokens(tokens: u64) -> String {
    let (unit, letter) = match tokens {
        0..1_000 => return tokens.to_string(),
        1_000..1_000_000 => (1_000, 'k'),
        1_000_000..1_000_000_000 => (1_000_000, 'M'),
        _ => (1_000_000_000, 'G'),
    };
    format!("{}.{}{letter}", tokens / unit, tokens % unit / (unit / 10))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn costs_are_rounded_to_cents_and_never_to_zero() {
        for (dollars, words) in [
            ("0", "$0.00"),
            ("0.000000000001", "< $0.01"),
            ("0.0099", "< $0.01"),
            ("0.01", "$0.01"),
            ("0.014999", "$0.01"),
            ("0.015", "$0.02"),
            ("1234.5", "$1234.50"),
        ] {
            let cost = CostTotal::known(dollars.parse().expect(dollars));
            assert_eq!(format_cost(&cost), words, "{dollars}");
        }
        let bound = CostTotal::at_least("0.001".parse().expect("an amount"));
        assert_eq!(format_cost(&bound), "> $0.00");
    }

    #[test]
    fn tokens_are_short_at_any_size() {
        for (tokens, words) in [
            (0, "0"),
            (1_000, "1.0k"),
            (999_999, "999.9k"),
            (1_000_000, "1.0M"),
            (u64::MAX, "18446744073.7G"),
        ] {
            assert_eq!(format_tokens(tokens), words);
        }
    }
}
