//! Directory walk shared by Glob and Grep, without files that git ignores.

mod walk;

pub(super) use walk::{BudgetedReader, FoundFile, SearchBudget, Walk};
