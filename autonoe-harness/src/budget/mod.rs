//! Budget accounts of fleets, members, turns and verifications.

mod account;
mod allowance;
#[cfg(test)]
mod properties;
mod verification;

pub use account::{Account, AccountError};
pub use allowance::{Allowance, Kind as BudgetedKind, Spending};
pub use verification::{PaidSession, VerificationBudget};
