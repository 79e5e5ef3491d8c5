//! Allowances and spending: money, tokens, time and sessions.

use std::time::Duration;

use autonoe_core::agent::{BudgetUsage, CostTotal};
use autonoe_core::time::format_duration;
use autonoe_core::{Budget, CostUsd};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// Limits of what an agent may spend. `None` is unlimited.
///
/// Time is working time of agents: two agents that work side by side for an hour spend two hours.
/// Deadlines are set by time-outs, not here.
///
/// ```
/// use autonoe_core::{Budget, CostUsd};
/// use autonoe_harness::Allowance;
///
/// let budget = Budget::default().with_cost(CostUsd::from_cents(500));
/// let allowance = Allowance::new(budget).sessions(10);
///
/// assert_eq!(allowance.sessions, Some(10));
/// ```
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", default)]
pub struct Allowance {
    /// Money, tokens and time.
    #[serde(flatten)]
    pub budget: Budget,
    /// The number of sessions.
    pub sessions: Option<u64>,
}

impl Allowance {
    /// Creates an allowance of money, tokens and time, for any number of sessions.
    pub fn new(budget: Budget) -> Self {
        Self {
            budget,
            sessions: None,
        }
    }

    /// Limits the number of sessions.
    #[must_use]
    pub fn sessions(mut self, sessions: u64) -> Self {
        self.sessions = Some(sessions);
        self
    }

    /// Returns the spending of work that may have used up the whole allowance, at an unknown cost.
    pub(crate) fn all_spent(&self) -> Spending {
        let mut spent = BudgetUsage {
            cost: CostTotal::unknown(),
            ..BudgetUsage::default()
        };
        spent.tokens.input = self.budget.tokens.unwrap_or_default();
        spent.time = self.budget.time.unwrap_or_default();
        Spending {
            spent,
            sessions: self.sessions.unwrap_or_default(),
        }
    }

    pub(crate) fn amounts(&self) -> [Option<u64>; Kind::ALL.len()] {
        Kind::ALL.map(|kind| match kind {
            Kind::Cost => self.budget.cost_usd.map(CostUsd::picos),
            Kind::Tokens => self.budget.tokens,
            Kind::Time => self.budget.time.map(millis),
            Kind::Sessions => self.sessions,
        })
    }

    pub(crate) fn from_amounts(amounts: [Option<u64>; Kind::ALL.len()]) -> Self {
        let [cost, tokens, time, sessions] = amounts;
        let budget = Budget {
            cost_usd: cost.map(CostUsd::from_picos),
            tokens,
            time: time.map(Duration::from_millis),
        };
        Self { budget, sessions }
    }
}

/// Amounts that were spent of an [`Allowance`].
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Spending {
    /// Money, tokens and time.
    #[serde(flatten)]
    pub spent: BudgetUsage,
    /// The number of sessions.
    pub sessions: u64,
}

impl Spending {
    /// Creates the spending of one session.
    pub fn from_session(
        cost: Option<CostUsd>,
        tokens: autonoe_core::agent::TokenUsage,
        time: Duration,
    ) -> Self {
        let mut total = CostTotal::default();
        total.add(cost);
        Self {
            spent: BudgetUsage {
                cost: total,
                tokens,
                time,
            },
            sessions: 1,
        }
    }

    /// Adds the spending of other work.
    pub(crate) fn merge(&mut self, other: &Self) {
        self.spent.cost.merge(other.spent.cost);
        self.spent.tokens += other.spent.tokens;
        self.spent.time = self.spent.time.saturating_add(other.spent.time);
        self.sessions = self.sessions.saturating_add(other.sessions);
    }

    /// Raises each kind to the amount in `other`, where that is higher.
    pub(crate) fn raise_to(&mut self, other: &Self) {
        if other.spent.cost.known_usd > self.spent.cost.known_usd {
            self.spent.cost = other.spent.cost;
        }
        if other.spent.tokens.total() > self.spent.tokens.total() {
            self.spent.tokens = other.spent.tokens;
        }
        self.spent.time = self.spent.time.max(other.spent.time);
        self.sessions = self.sessions.max(other.sessions);
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

/// Kind of resource that a budget limits.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
#[schemars(rename = "BudgetedKind")]
pub enum Kind {
    /// Money.
    Cost,
    /// Tokens.
    Tokens,
    /// Working time of agents.
    Time,
    /// Sessions.
    Sessions,
}

impl Kind {
    pub(crate) const ALL: [Self; 4] = [Self::Cost, Self::Tokens, Self::Time, Self::Sessions];

    /// Formats an amount, given in the smallest unit of the kind.
    pub(crate) fn format(self, amount: u64) -> String {
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
            Self::Cost => "cost",
            Self::Tokens => "tokens",
            Self::Time => "time",
            Self::Sessions => "sessions",
        })
    }
}

fn millis(time: Duration) -> u64 {
    u64::try_from(time.as_millis()).unwrap_or(u64::MAX)
}
