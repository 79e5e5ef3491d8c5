//! What may be spent, and what was.

use std::time::Duration;

use autonoe_core::{Budget, CostTotal, CostUsd, Spent, format_duration};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// What an agent may spend. `None` is unlimited.
///
/// Time is the time that agents work: two that work side by side for an hour take two. When
/// something must be over is a matter of time-outs, not of this.
///
/// ```
/// use autonoe_core::{Budget, CostUsd};
/// use autonoe_harness::Allowance;
///
/// let budget = Budget::default().with_cost(CostUsd::from_cents(500));
/// let allowance = Allowance::new(budget).with_sessions(10);
///
/// assert_eq!(allowance.sessions, Some(10));
/// ```
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", default)]
pub struct Allowance {
    /// Money, tokens and time.
    #[serde(flatten)]
    pub budget: Budget,
    /// Sessions.
    pub sessions: Option<u64>,
}

impl Allowance {
    /// Makes an allowance of money, tokens and time, for any number of sessions.
    pub fn new(budget: Budget) -> Self {
        Self {
            budget,
            sessions: None,
        }
    }

    /// Limits the sessions.
    #[must_use]
    pub fn with_sessions(mut self, sessions: u64) -> Self {
        self.sessions = Some(sessions);
        self
    }

    /// Returns what is left of it. Of money that nobody counted, nothing is.
    pub(crate) fn minus(&self, spending: &Spending) -> Self {
        let mut left = self.amounts();
        for (left, spent) in left.iter_mut().zip(spending.amounts()) {
            *left = left.map(|left| left.saturating_sub(spent));
        }
        if spending.spent.cost.unknown_parts > 0 {
            let [cost, ..] = &mut left;
            *cost = cost.map(|_| 0);
        }
        Self::of_amounts(left)
    }

    /// Returns what nothing is left of.
    pub(crate) fn exhausted(&self) -> Option<Kind> {
        let mut kinds = Kind::ALL.into_iter().zip(self.amounts());
        kinds
            .find(|(_, left)| *left == Some(0))
            .map(|(kind, _)| kind)
    }

    pub(crate) fn amounts(&self) -> [Option<u64>; Kind::ALL.len()] {
        Kind::ALL.map(|kind| match kind {
            Kind::Cost => self.budget.cost_usd.map(CostUsd::picos),
            Kind::Tokens => self.budget.tokens,
            Kind::Time => self.budget.time.map(millis),
            Kind::Sessions => self.sessions,
        })
    }

    pub(crate) fn of_amounts(amounts: [Option<u64>; Kind::ALL.len()]) -> Self {
        let [cost, tokens, time, sessions] = amounts;
        let budget = Budget {
            cost_usd: cost.map(CostUsd::from_picos),
            tokens,
            time: time.map(Duration::from_millis),
        };
        Self { budget, sessions }
    }
}

/// What was spent of an [`Allowance`].
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Spending {
    /// Money, tokens and time.
    #[serde(flatten)]
    pub spent: Spent,
    /// Sessions.
    pub sessions: u64,
}

impl Spending {
    /// Makes the spending of one session.
    pub fn of_session(
        cost: Option<CostUsd>,
        tokens: autonoe_core::TokenUsage,
        time: Duration,
    ) -> Self {
        let mut total = CostTotal::default();
        total.add(cost);
        Self {
            spent: Spent {
                cost: total,
                tokens,
                time,
            },
            sessions: 1,
        }
    }

    /// Adds what was spent beside.
    pub(crate) fn merge(&mut self, other: &Self) {
        self.spent.cost.merge(other.spent.cost);
        self.spent.tokens += other.spent.tokens;
        self.spent.time = self.spent.time.saturating_add(other.spent.time);
        self.sessions = self.sessions.saturating_add(other.sessions);
    }

    pub(crate) fn amounts(&self) -> [u64; Kind::ALL.len()] {
        Kind::ALL.map(|kind| match kind {
            Kind::Cost => self.spent.cost.known_usd.picos(),
            Kind::Tokens => self.spent.tokens.total(),
            Kind::Time => millis(self.spent.time),
            Kind::Sessions => self.sessions,
        })
    }
}

/// What can be spent.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
#[schemars(rename = "BudgetedKind")]
pub enum Kind {
    /// Money.
    Cost,
    /// Tokens.
    Tokens,
    /// Time of agents.
    Time,
    /// Sessions.
    Sessions,
}

impl Kind {
    pub(crate) const ALL: [Self; 4] = [Self::Cost, Self::Tokens, Self::Time, Self::Sessions];

    /// Says how much so many of its smallest unit are.
    pub(crate) fn words(self, amount: u64) -> String {
        match self {
            Self::Cost => CostUsd::from_picos(amount).to_string(),
            Self::Time => format_duration(Duration::from_millis(amount)),
            Self::Tokens | Self::Sessions => amount.to_string(),
        }
    }
}

impl std::fmt::Display for Kind {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(match self {
            Self::Cost => "money",
            Self::Tokens => "tokens",
            Self::Time => "time",
            Self::Sessions => "sessions",
        })
    }
}

fn millis(time: Duration) -> u64 {
    u64::try_from(time.as_millis()).unwrap_or(u64::MAX)
}
