//! Budgets that compose: what is reserved is paid, and what is left returns.

mod accounts;
mod allowance;
#[cfg(test)]
mod properties;

pub use accounts::{AccountError, Accounts};
pub use allowance::{Allowance, Kind as BudgetedKind, Spending};
