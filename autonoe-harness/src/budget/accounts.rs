//! Budgets that compose.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

use super::allowance::{Allowance, Kind, Spending};

/// The accounts of a coordinator and of all that it started, and those of what they started.
///
/// Whoever starts something reserves its allowance first; what cannot be reserved is not started.
/// What is reserved is gone from the account above until the one below is settled; then what was
/// spent stays spent, and the rest is free again. Nothing is made and nothing is lost on the way.
///
/// A session may spend more than it was allowed, because what it costs is known afterwards. It is
/// charged all the same: the accounts above have that much less. What a session did not tell is
/// not taken for nothing: of an account with a cost that is unknown, no money returns.
///
/// ```
/// use autonoe_core::{Budget, CostUsd};
/// use autonoe_harness::{Accounts, Allowance, Spending};
/// use std::time::Duration;
///
/// let money = |cents| Allowance::new(Budget::default().with_cost(CostUsd::from_cents(cents)));
/// let mut accounts = Accounts::new("all", money(100));
/// accounts.reserve("all", "one", money(80))?;
/// assert!(accounts.reserve("all", "two", money(30)).is_err());
///
/// let cost = Some(CostUsd::from_cents(50));
/// accounts.spend("one", &Spending::of_session(cost, Default::default(), Duration::ZERO))?;
/// accounts.settle("one")?;
///
/// assert_eq!(accounts.free("all")?, money(50));
/// # Ok::<(), autonoe_harness::AccountError>(())
/// ```
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(
    try_from = "BTreeMap<String, Account>",
    into = "BTreeMap<String, Account>"
)]
pub struct Accounts {
    accounts: BTreeMap<String, Account>,
}

/// One account, as it is kept in a file.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct Account {
    /// Whose allowance this one's is a part of; only the first has none.
    #[serde(skip_serializing_if = "Option::is_none")]
    parent: Option<String>,
    allowance: Allowance,
    /// What it spent itself, and what accounts below it had spent when they were settled.
    spent: [u64; Kind::ALL.len()],
    /// Whether money was spent that nobody counted.
    has_unknown_cost: bool,
}

/// Something that cannot be done with accounts.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum AccountError {
    /// There is no such account.
    #[error("there is no account {0:?}")]
    Unknown(String),
    /// There is one of that name.
    #[error("there is an account {0:?} already")]
    Duplicate(String),
    /// The account above has not that much left.
    #[error(
        "{account:?} cannot be paid: {} of {kind} is asked for, and {} is left",
        asked.map_or("no limit".to_owned(), |asked| kind.words(asked)),
        kind.words(*free)
    )]
    CannotBePaid {
        /// The account that was to be opened.
        account: String,
        /// What there is too little of.
        kind: Kind,
        /// How much is asked for, in the smallest unit; `None` is without a limit.
        asked: Option<u64>,
        /// How much is left, in the same unit.
        free: u64,
    },
    /// Accounts below it are not settled.
    #[error("{account:?} cannot be settled before {below:?} is")]
    NotSettledBelow {
        /// The account that was to be settled.
        account: String,
        /// One below it.
        below: String,
    },
    /// The first account is never settled.
    #[error("{0:?} is the account of all the others")]
    IsFirst(String),
    /// What was read are no accounts that belong together.
    #[error("these are no accounts of one tree: {0}")]
    NoTree(String),
}

impl Accounts {
    /// Opens the first account.
    pub fn new(name: impl Into<String>, allowance: Allowance) -> Self {
        let first = Account::new(None, allowance);
        Self {
            accounts: BTreeMap::from([(name.into(), first)]),
        }
    }

    /// Opens an account with a part of what is free in another.
    ///
    /// # Errors
    ///
    /// There is not that much, or the names are wrong. Then nothing has changed.
    pub fn reserve(
        &mut self,
        parent: &str,
        name: impl Into<String>,
        asked: Allowance,
    ) -> Result<(), AccountError> {
        let name = name.into();
        let free = self.free(parent)?;
        if self.accounts.contains_key(&name) {
            return Err(AccountError::Duplicate(name));
        }
        for (kind, (asked, free)) in Kind::ALL
            .into_iter()
            .zip(asked.amounts().into_iter().zip(free.amounts()))
        {
            if let Some(free) = free
                && asked.is_none_or(|asked| asked > free)
            {
                return Err(AccountError::CannotBePaid {
                    account: name,
                    kind,
                    asked,
                    free,
                });
            }
        }
        let account = Account::new(Some(parent.to_owned()), asked);
        self.accounts.insert(name, account);
        Ok(())
    }

    /// Charges an account with what was spent, be it covered or not.
    ///
    /// # Errors
    ///
    /// There is no such account.
    pub fn spend(&mut self, name: &str, spending: &Spending) -> Result<(), AccountError> {
        let account = self.accounts.get_mut(name);
        let account = account.ok_or_else(|| AccountError::Unknown(name.to_owned()))?;
        account.charge(spending.amounts());
        account.has_unknown_cost |= spending.spent.cost.unknown_parts > 0;
        Ok(())
    }

    /// Closes an account. The one above is charged what it spent, and has the rest back.
    ///
    /// # Errors
    ///
    /// Accounts below it are open, or it is the first.
    pub fn settle(&mut self, name: &str) -> Result<(), AccountError> {
        let account = self.account(name)?;
        if let Some((below, _)) = self.below(name).next() {
            return Err(AccountError::NotSettledBelow {
                account: name.to_owned(),
                below: below.to_owned(),
            });
        }
        let Some(parent) = account.parent.clone() else {
            return Err(AccountError::IsFirst(name.to_owned()));
        };
        let (charged, has_unknown_cost) = (account.charged(), account.has_unknown_cost);
        self.accounts.remove(name);
        if let Some(parent) = self.accounts.get_mut(&parent) {
            parent.charge(charged);
            parent.has_unknown_cost |= has_unknown_cost;
        }
        Ok(())
    }

    /// Returns what can still be spent or reserved; `None` is without a limit.
    ///
    /// # Errors
    ///
    /// There is no such account.
    pub fn free(&self, name: &str) -> Result<Allowance, AccountError> {
        let account = self.account(name)?;
        let mut free = account.allowance.amounts();
        if free.iter().all(Option::is_none) {
            // Nothing has to be counted, and a fleet without limits may have many members.
            return Ok(Allowance::of_amounts(free));
        }
        let used = self.used(name, account);
        for (free, used) in free.iter_mut().zip(used) {
            *free = free.map(|total| total.saturating_sub(used));
        }
        Ok(Allowance::of_amounts(free))
    }

    /// Returns by how much an account is overdrawn, where it is.
    ///
    /// # Errors
    ///
    /// There is no such account.
    pub fn overdrawn(&self, name: &str) -> Result<Option<Kind>, AccountError> {
        let account = self.account(name)?;
        let used = self.used(name, account);
        let totals = account.allowance.amounts();
        Ok(Kind::ALL
            .into_iter()
            .zip(totals.into_iter().zip(used))
            .find(|(_, (total, used))| total.is_some_and(|total| *used > total))
            .map(|(kind, _)| kind))
    }

    /// Returns the names of the accounts that are open, the first among them.
    pub fn names(&self) -> impl Iterator<Item = &str> {
        self.accounts.keys().map(String::as_str)
    }

    /// Returns what an account has spent, with all that was settled below it.
    #[cfg(test)]
    pub(super) fn spent(&self, name: &str) -> [u64; Kind::ALL.len()] {
        self.accounts[name].spent
    }

    fn account(&self, name: &str) -> Result<&Account, AccountError> {
        let account = self.accounts.get(name);
        account.ok_or_else(|| AccountError::Unknown(name.to_owned()))
    }

    fn below(&self, name: &str) -> impl Iterator<Item = (&str, &Account)> {
        self.accounts
            .iter()
            .filter(move |(_, account)| account.parent.as_deref() == Some(name))
            .map(|(name, account)| (name.as_str(), account))
    }

    /// Returns what is spent or reserved of an account.
    fn used(&self, name: &str, account: &Account) -> [u64; Kind::ALL.len()] {
        // Sorted out once: a fleet has many accounts side by side.
        let mut below: BTreeMap<&str, Vec<(&str, &Account)>> = BTreeMap::new();
        for (name, account) in &self.accounts {
            if let Some(parent) = &account.parent {
                below.entry(parent).or_default().push((name, account));
            }
        }
        used_in(&below, name, account)
    }
}

/// Returns what is spent or reserved of an account, by the accounts below each.
fn used_in(
    below: &BTreeMap<&str, Vec<(&str, &Account)>>,
    name: &str,
    account: &Account,
) -> [u64; Kind::ALL.len()] {
    let mut used = account.spent;
    for (name, account) in below.get(name).into_iter().flatten() {
        let held = used_in(below, name, account);
        let totals = account.allowance.amounts();
        for (used, (held, total)) in used.iter_mut().zip(held.into_iter().zip(totals)) {
            // What is reserved is held whole; what was spent beyond it is held too.
            *used = used.saturating_add(held.max(total.unwrap_or_default()));
        }
    }
    used
}

impl Account {
    fn new(parent: Option<String>, allowance: Allowance) -> Self {
        Self {
            parent,
            allowance,
            spent: Default::default(),
            has_unknown_cost: false,
        }
    }

    fn charge(&mut self, amounts: [u64; Kind::ALL.len()]) {
        for (spent, amount) in self.spent.iter_mut().zip(amounts) {
            *spent = spent.saturating_add(amount);
        }
    }

    /// Returns what the account above is charged when this one is settled.
    fn charged(&self) -> [u64; Kind::ALL.len()] {
        let mut charged = self.spent;
        if self.has_unknown_cost {
            let [reserved, ..] = self.allowance.amounts();
            let [cost, ..] = &mut charged;
            *cost = (*cost).max(reserved.unwrap_or_default());
        }
        charged
    }
}

impl TryFrom<BTreeMap<String, Account>> for Accounts {
    type Error = AccountError;

    fn try_from(accounts: BTreeMap<String, Account>) -> Result<Self, AccountError> {
        let firsts = accounts.values().filter(|account| account.parent.is_none());
        if firsts.count() != 1 {
            let why = "one account, and only one, has none above it";
            return Err(AccountError::NoTree(why.to_owned()));
        }
        for name in accounts.keys() {
            // Who is not at the top after as many steps as there are accounts goes in a circle.
            let mut above = Some(name);
            for _ in 0..accounts.len() {
                let Some(name) = above else { break };
                let Some(account) = accounts.get(name) else {
                    let why = format!("there is no account {name:?}");
                    return Err(AccountError::NoTree(why));
                };
                above = account.parent.as_ref();
            }
            if above.is_some() {
                let why = format!("{name:?} is above itself");
                return Err(AccountError::NoTree(why));
            }
        }
        Ok(Self { accounts })
    }
}

impl From<Accounts> for BTreeMap<String, Account> {
    fn from(accounts: Accounts) -> Self {
        accounts.accounts
    }
}
