//! The live view of a fleet of agents, in the terminal and in a browser.
//!
//! Whoever drives a fleet pushes a [`Dashboard`], a snapshot as data, into a [`DashboardFeed`]
//! whenever something changes. Any number of views look at it:
//!
//! | where | what |
//! | --- | --- |
//! | in a terminal | [`terminal::show`], on a terminal and keys that the caller brings |
//! | in a browser | [`web::serve`], one page on a port of this machine, for who has its token |
//! | anywhere else | [`DashboardSource::watch`], and the JSON of a snapshot ([`schemas`]) |
//!
//! Views do nothing to the fleet. What a person asks for comes out as a [`FleetIntent`], for the
//! caller to carry out. Snapshots may be passed over, so that a slow view never holds up the fleet.
//!
//! What agents write is shown and never obeyed: not by the terminal, and not by the browser. What
//! is not known, such as the cost of a session that did not tell, is shown as not known.

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
