//! Budget account with reservations.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

use super::allowance::{Allowance, Kind, Spending};

/// An allowance, the spending charged to it, and the reservations of work in progress.
///
/// A caller reserves the allowance of a piece of work before it starts, and closes the reservation
/// with the work's spending. The rest is free again. The piece can have an account of its own with
/// the reserved allowance, so that accounts nest: close the reservation of the outer one with
/// [`spent`](Self::spent) of the inner.
///
/// A session can spend more than its allowance, because its cost is known only afterwards. The
/// account is charged the full amount. An unknown cost never counts as zero: no money of its
/// reservation returns.
///
/// ```
/// use autonoe_core::{Budget, CostUsd};
/// use autonoe_harness::budget::{Account, Spending};
/// use autonoe_harness::Allowance;
/// use std::time::Duration;
///
/// let money = |cents| Allowance::new(Budget::default().with_cost(CostUsd::from_cents(cents)));
/// let mut account = Account::new(money(100));
/// account.reserve("one", money(80))?;
/// assert!(account.reserve("two", money(30)).is_err());
///
/// let cost = Some(CostUsd::from_cents(50));
/// let spending = Spending::from_session(cost, Default::default(), Duration::ZERO);
/// account.close_reservation("one", &spending);
///
/// assert_eq!(account.free(), money(50));
/// # Ok::<(), autonoe_harness::budget::AccountError>(())
/// ```
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct Account {
    allowance: Allowance,
    spent: Spending,
    /// Amounts charged in addition to `spent`, because the real spending is unknown.
    withheld: [u64; Kind::ALL.len()],
    reserved: BTreeMap<String, Allowance>,
}

/// Error of a reservation.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum AccountError {
    /// A reservation of that name exists.
    #[error("a reservation for {0:?} already exists")]
    Duplicate(String),
    /// The account has less left than requested.
    #[error(
        "cannot reserve the {kind} budget of {name:?}: it needs {}, and {} is left",
        requested.map_or("no limit".to_owned(), |amount| kind.format(amount)),
        kind.format(*free)
    )]
    InsufficientBudget {
        /// The name of the reservation.
        name: String,
        /// The kind of which too little is left.
        kind: Kind,
        /// The requested amount, in the smallest unit; `None` is unlimited.
        requested: Option<u64>,
        /// The amount that is left, in the same unit.
        free: u64,
    },
}

impl Account {
    /// Opens an account.
    pub fn new(allowance: Allowance) -> Self {
        Self {
            allowance,
            ..Self::default()
        }
    }

    /// Reserves a part of the free allowance.
    ///
    /// # Errors
    ///
    /// Too little is left, or the name is in use. The account is unchanged.
    pub fn reserve(
        &mut self,
        name: impl Into<String>,
        requested: Allowance,
    ) -> Result<(), AccountError> {
        let name = name.into();
        if self.reserved.contains_key(&name) {
            return Err(AccountError::Duplicate(name));
        }
        let amounts = requested.amounts().into_iter().zip(self.free().amounts());
        for (kind, (requested, free)) in Kind::ALL.into_iter().zip(amounts) {
            if let Some(free) = free
                && requested.is_none_or(|requested| requested > free)
            {
                return Err(AccountError::InsufficientBudget {
                    name,
                    kind,
                    requested,
                    free,
                });
            }
        }
        self.reserved.insert(name, requested);
        Ok(())
    }

    /// Ends a reservation: charges the spending, and frees the rest. If the cost is unknown, all of
    /// the reserved money is charged. Spending without a reservation is charged as it is.
    pub fn close_reservation(&mut self, name: &str, spending: &Spending) {
        let reserved = self.reserved.remove(name).unwrap_or_default();
        self.charge_from(&reserved, spending);
    }

    /// Charges spending that has no reservation. If its cost is unknown, no money is left.
    pub fn charge(&mut self, spending: &Spending) {
        self.charge_from(&self.free(), spending);
    }

    /// Charges an estimate for work of unknown cost, instead of all that is left.
    pub fn charge_estimate(&mut self, estimate: &Spending) {
        self.spent.spent.cost.add(None);
        self.spent.sessions = self.spent.sessions.saturating_add(estimate.sessions);
        let mut amounts = estimate.amounts();
        let [.., sessions] = &mut amounts;
        *sessions = 0;
        self.withhold(amounts);
    }

    /// Returns the allowance that can still be spent or reserved.
    pub fn free(&self) -> Allowance {
        let mut free = self.allowance.amounts();
        // A fleet without limits may have many members: skip summing up their reservations.
        if free.iter().any(Option::is_some) {
            let spent = self.spent.amounts().map(Some);
            let reserved = self.reserved.values().map(Allowance::amounts);
            for used in reserved.chain([spent, self.withheld.map(Some)]) {
                for (free, used) in free.iter_mut().zip(used) {
                    *free = free.map(|free| free.saturating_sub(used.unwrap_or_default()));
                }
            }
        }
        Allowance::from_amounts(free)
    }

    /// Returns the first kind of which nothing is free.
    pub fn exhausted(&self) -> Option<Kind> {
        let mut kinds = Kind::ALL.into_iter().zip(self.free().amounts());
        kinds
            .find(|(_, left)| *left == Some(0))
            .map(|(kind, _)| kind)
    }

    /// Returns the reported spending.
    pub fn spent(&self) -> Spending {
        self.spent
    }

    fn charge_from(&mut self, source: &Allowance, spending: &Spending) {
        self.spent.merge(spending);
        if spending.spent.cost.unknown_parts > 0 {
            let [money, ..] = source.amounts();
            let [cost, ..] = spending.amounts();
            let unreported = money.unwrap_or_default().saturating_sub(cost);
            self.withhold([unreported, 0, 0, 0]);
        }
    }

    fn withhold(&mut self, amounts: [u64; Kind::ALL.len()]) {
        for (withheld, amount) in self.withheld.iter_mut().zip(amounts) {
            *withheld = withheld.saturating_add(amount);
        }
    }
}
