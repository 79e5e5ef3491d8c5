//! [`Budget`], the limits of cost, tokens and time, and the [`TokenUsage`] that counts against them.

use std::fmt;
use std::ops::{Add, AddAssign};
use std::time::Duration;

use jiff::Timestamp;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::agent::{CostTotal, CostUsd};
use crate::event::InvalidValue;
use crate::time::millis;
use crate::time::timestamp::between;

/// Limits of cost, tokens and time. `None` is unlimited.
///
/// The budget of a run is the total that it may spend; the budget of a session is the remainder.
/// The time of a run is wall-clock time from its start, including waits. A time limit set when the
/// run is resumed counts from the resumption.
///
/// ```
/// use autonoe_core::agent::{BudgetKind, BudgetUsage};
/// use autonoe_core::{Budget, CostUsd};
///
/// let budget = Budget::default().with_cost(CostUsd::from_cents(500));
/// let mut spent = BudgetUsage::default();
/// spent.cost.add(Some(CostUsd::from_cents(200)));
///
/// assert_eq!(budget.remaining(&spent).cost_usd, Some(CostUsd::from_cents(300)));
/// assert_eq!(budget.exhausted(&spent), None);
/// ```
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", default)]
pub struct Budget {
    /// Cost limit. The cost of a session that does not report it is unknown and does not count.
    pub cost_usd: Option<CostUsd>,
    /// Limit of tokens of all kinds.
    pub tokens: Option<u64>,
    /// Limit of wall-clock time.
    #[serde(rename = "timeMs", with = "millis::option")]
    #[schemars(with = "Option<u64>")]
    pub time: Option<Duration>,
}

impl Budget {
    /// Rejects a budget with a limit of zero. `call` is the method that set it.
    ///
    /// # Errors
    ///
    /// A limit is zero.
    pub fn check(&self, call: &'static str) -> Result<(), InvalidValue> {
        let reason = "a limit of 0 lets nothing run; give more, or leave that limit out";
        let is_exhausted = self.exhausted(&BudgetUsage::default()).is_some();
        InvalidValue::reject_if(is_exhausted, call, reason)
    }

    /// Limits the cost.
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

    /// Returns the remaining budget after `spent`.
    #[must_use]
    pub fn remaining(&self, spent: &BudgetUsage) -> Self {
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

    /// Replaces the time limit with the time from `now` to `deadline`.
    pub(crate) fn with_deadline(self, deadline: Option<Timestamp>, now: Timestamp) -> Self {
        Self {
            time: deadline.map(|deadline| between(now, deadline)),
            ..self
        }
    }

    /// Returns the limit that `spent` has reached, cost first; `None` while no limit is reached.
    pub fn exhausted(&self, spent: &BudgetUsage) -> Option<BudgetKind> {
        let remaining = self.remaining(spent);
        if remaining.cost_usd == Some(CostUsd::ZERO) {
            Some(BudgetKind::Cost)
        } else if remaining.tokens == Some(0) {
            Some(BudgetKind::Tokens)
        } else if remaining.time == Some(Duration::ZERO) {
            Some(BudgetKind::Time)
        } else {
            None
        }
    }

    /// Returns the limits of which `spent` is at least 80 %, but not all.
    pub fn nearly_spent(&self, spent: &BudgetUsage) -> Vec<BudgetKind> {
        let nanos = |time: Duration| time.as_nanos();
        let limits = [
            (
                BudgetKind::Cost,
                u128::from(spent.cost.known_usd.picos()),
                self.cost_usd.map(|cost| u128::from(cost.picos())),
            ),
            (
                BudgetKind::Tokens,
                u128::from(spent.tokens.total()),
                self.tokens.map(u128::from),
            ),
            (BudgetKind::Time, nanos(spent.time), self.time.map(nanos)),
        ];
        let nearly = limits.into_iter().filter(|(_, spent, limit)| {
            limit.is_some_and(|limit| *spent < limit && *spent * 5 >= limit * 4)
        });
        nearly.map(|(kind, ..)| kind).collect()
    }
}

/// The used part of a [`Budget`].
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct BudgetUsage {
    /// Money.
    pub cost: CostTotal,
    /// Tokens.
    pub tokens: TokenUsage,
    /// Time.
    #[serde(rename = "timeMs", with = "millis")]
    pub time: Duration,
}

/// Kind of a budget limit.
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
            Self::Cost => "cost",
            Self::Tokens => "token",
            Self::Time => "time",
        })
    }
}

/// Tokens that a model used. The five counts do not overlap.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", default)]
pub struct TokenUsage {
    /// Prompt tokens that were neither read from nor written to a cache.
    pub input: u64,
    /// Generated tokens other than thinking.
    pub output: u64,
    /// Prompt tokens read from a cache.
    pub cache_read: u64,
    /// Prompt tokens written to a cache.
    pub cache_write: u64,
    /// Generated tokens of hidden thinking, if the provider reports them separately.
    pub reasoning: u64,
}

impl TokenUsage {
    /// Returns the tokens of the prompt, including cached ones.
    pub fn prompt(&self) -> u64 {
        self.input
            .saturating_add(self.cache_read)
            .saturating_add(self.cache_write)
    }

    /// Returns the generated tokens, including thinking.
    pub fn completion(&self) -> u64 {
        self.output.saturating_add(self.reasoning)
    }

    /// Returns all tokens.
    pub fn total(&self) -> u64 {
        self.prompt().saturating_add(self.completion())
    }
}

impl Add for TokenUsage {
    type Output = Self;

    fn add(self, other: Self) -> Self {
        Self {
            input: self.input.saturating_add(other.input),
            output: self.output.saturating_add(other.output),
            cache_read: self.cache_read.saturating_add(other.cache_read),
            cache_write: self.cache_write.saturating_add(other.cache_write),
            reasoning: self.reasoning.saturating_add(other.reasoning),
        }
    }
}

impl AddAssign for TokenUsage {
    fn add_assign(&mut self, other: Self) {
        *self = *self + other;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_limit_of_zero_is_refused() {
        const SECOND: Duration = Duration::from_secs(1);
        let budget = Budget::default();
        for (budget, is_valid) in [
            (budget, true),
            (budget.with_time(SECOND), true),
            (budget.with_time(SECOND).with_tokens(0), false),
            (budget.with_cost(CostUsd::ZERO), false),
        ] {
            assert_eq!(budget.check("b").is_ok(), is_valid, "{budget:?}");
        }
    }

    #[test]
    fn a_limit_is_nearly_spent_from_80_percent_until_nothing_remains() {
        let spent = BudgetUsage {
            cost: CostTotal::known(CostUsd::from_cents(8)),
            tokens: TokenUsage {
                input: 80,
                ..TokenUsage::default()
            },
            time: Duration::from_secs(8),
        };
        let seconds = Duration::from_secs;

        for (budget, expected) in [
            (Budget::default(), vec![]),
            (Budget::default().with_cost(CostUsd::from_cents(11)), vec![]),
            (
                Budget::default().with_cost(CostUsd::from_cents(10)),
                vec![BudgetKind::Cost],
            ),
            (Budget::default().with_cost(CostUsd::from_cents(8)), vec![]),
            (Budget::default().with_tokens(101), vec![]),
            (
                Budget::default().with_tokens(100).with_time(seconds(9)),
                vec![BudgetKind::Tokens, BudgetKind::Time],
            ),
            (Budget::default().with_time(seconds(7)), vec![]),
            (Budget::default().with_time(Duration::MAX), vec![]),
        ] {
            assert_eq!(budget.nearly_spent(&spent), expected, "{budget:?}");
        }
    }

    #[test]
    fn a_limit_is_reached_when_nothing_remains() {
        let spent = BudgetUsage {
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

    // Shows: framework/models/token-usage-prompt-completion-total
    // Shows: framework/models/usage-names
    #[test]
    fn prompt_completion_and_total_count_each_token_once() {
        let usage = TokenUsage {
            input: 1,
            output: 20,
            cache_read: 300,
            cache_write: 4000,
            reasoning: 50_000,
        };

        assert_eq!(usage.prompt(), 4301);
        assert_eq!(usage.completion(), 50_020);
        assert_eq!(usage.total(), 54_321);
    }
}
