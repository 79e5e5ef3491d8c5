//! The tools with which agents keep the ledger, and the one with which a model judges.

mod create;
mod deprecate;
mod ledger_book;
mod ledger_watch;
mod list;
mod lost_ground;
mod set_status;
mod tool_set;
mod verdict;
mod verify;

pub use ledger_book::{LedgerBook, UpdateError};
pub(crate) use ledger_watch::LedgerWatch;
pub(crate) use lost_ground::LostGround;
pub(crate) use tool_set::DELIVERABLE_TOOLS;
pub use tool_set::deliverable_tools;
pub use verdict::{JudgeVerdict, VERDICT, VerdictSlot, verdict_tool};
