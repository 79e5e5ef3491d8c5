//! The live view of a fleet of agents, in the terminal and in a browser.
mod intent;
mod model;
mod source;
pub mod terminal;
pub mod web;

pub use intent::{FleetAction, FleetIntent};
pub use model::{
    AlertLine, AlertSeverity, Dashboard, FleetPhase, Member, MemberId, MemberStatus, Progress,
    Totals, cost_words, schemas, token_words,
};
pub use source::{DashboardFeed, DashboardSource};
