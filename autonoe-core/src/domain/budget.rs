//! Limits of money, tokens and time.

use std::fmt;
use std::time::Duration;

use jiff::Timestamp;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::duration::millis;
use super::quota::between;
use super::{CostTotal, CostUsd, TokenUsage};

/// Limits of money, tokens and time. `None` is unlimited.
///
/// For a run it is what may be spent in all; for a session, what is left.
/// The time of a run is wall-clock time from its start, waits included; one that was given when
/// the run went on counts from then.
///
/// ```
/// use autonoe_core::{Budget, BudgetKind, CostUsd, Spent};
///
/// let budget = Budget::default().with_cost(CostUsd::from_cents(500));
/// let mut spent = Spent::default();
/// spent.cost.add(Some(CostUsd::from_cents(200)));
///
/// assert_eq!(budget.remaining(&spent).cost_usd, Some(CostUsd::from_cents(300)));
/// assert_eq!(budget.exhausted(&spent), None);
/// ```
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", default)]
pub struct Budget {
    /// Money. What a session cost that did not tell is unknown and cannot be held against it.
    pub cost_usd: Option<CostUsd>,
    /// Tokens of all kinds.
    pub tokens: Option<u64>,
    /// Wall-clock time.
    #[serde(rename = "timeMs", with = "millis::option")]
    #[schemars(with = "Option<u64>")]
    pub time: Option<Duration>,
}

impl Budget {
    /// Limits the money.
    #[must_use]
    pub fn with_cost(mut self, cost: CostUsd) -> Self {
        self.cost_usd = Some(cost);
        self
    }

    /// Limits the tokens.
    #[must_use]
    pub fn with_tokens(mut self, tokens: u64) -> Self {
        self.tokens = Some(tokens);
        self
    }

    /// Limits the time.
    #[must_use]
    pub fn with_time(mut self, time: Duration) -> Self {
        self.time = Some(time);
        self
    }

    /// Returns what is left after `spent`.
    #[must_use]
    pub fn remaining(&self, spent: &Spent) -> Self {
        Self {
            cost_usd: self
                .cost_usd
                .map(|cost| cost.saturating_sub(spent.cost.known_usd)),
            tokens: self
                .tokens
                .map(|tokens| tokens.saturating_sub(spent.tokens.total())),
            time: self.time.map(|time| time.saturating_sub(spent.time)),
        }
    }

    /// Returns what is left at `now` when the time is up at `deadline`.
    pub(crate) fn until(self, deadline: Option<Timestamp>, now: Timestamp) -> Self {
        Self {
            time: deadline.map(|deadline| between(now, deadline)),
            ..self
        }
    }

    /// Returns the limit that `spent` has reached, money first; `None` while there is some left.
    pub fn exhausted(&self, spent: &Spent) -> Option<BudgetKind> {
        let left = self.remaining(spent);
        if left.cost_usd == Some(CostUsd::ZERO) {
            Some(BudgetKind::Cost)
        } else if left.tokens == Some(0) {
            Some(BudgetKind::Tokens)
        } else if left.time == Some(Duration::ZERO) {
            Some(BudgetKind::Time)
        } else {
            None
        }
    }
}

/// What was spent of a [`Budget`].
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Spent {
    /// Money.
    pub cost: CostTotal,
    /// Tokens.
    pub tokens: TokenUsage,
    /// Time.
    #[serde(rename = "timeMs", with = "millis")]
    pub time: Duration,
}

/// Which limit of a budget.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum BudgetKind {
    /// Money.
    Cost,
    /// Tokens.
    Tokens,
    /// Time.
    Time,
}

impl fmt::Display for BudgetKind {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Cost => "money",
            Self::Tokens => "token",
            Self::Time => "time",
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_limit_is_reached_when_nothing_is_left_of_it() {
        let spent = Spent {
            cost: CostTotal {
                known_usd: CostUsd::from_cents(10),
                unknown_parts: 3,
            },
            tokens: TokenUsage {
                input: 60,
                output: 40,
                ..TokenUsage::default()
            },
            time: Duration::from_secs(9),
        };

        for (budget, expected) in [
            (Budget::default(), None),
            (Budget::default().with_cost(CostUsd::from_cents(11)), None),
            (
                Budget::default().with_cost(CostUsd::from_cents(10)),
                Some(BudgetKind::Cost),
            ),
            (Budget::default().with_tokens(101), None),
            (Budget::default().with_tokens(100), Some(BudgetKind::Tokens)),
            (Budget::default().with_time(Duration::from_secs(10)), None),
            (
                Budget::default().with_time(Duration::from_secs(8)),
                Some(BudgetKind::Time),
            ),
            (
                Budget::default().with_tokens(1).with_cost(CostUsd::ZERO),
                Some(BudgetKind::Cost),
            ),
        ] {
            assert_eq!(budget.exhausted(&spent), expected, "{budget:?}");
        }
    }
}
