//! Live view of a run or of a fleet of agents, in the terminal and in a browser.
//!
//! The driver of a fleet pushes a [`Dashboard`], a snapshot as data, into a [`DashboardFeed`] on
//! every change. Any number of views can watch the feed:
//!
//! | view | item |
//! | --- | --- |
//! | terminal | [`terminal::show`], on a terminal and key input of the caller |
//! | browser | [`web::serve`], one page on a loopback port, protected by a token |
//! | browser, with a run | [`web::Site`], the same page for a [`RunFeed`], a fleet, or both |
//! | other | [`DashboardSource::watch`] and the JSON of a snapshot ([`schemas`]) |
//!
//! Views never act on the fleet themselves. They emit a user's requests as [`FleetIntent`]s, which
//! the caller carries out. Views may skip snapshots, so a slow view never delays the fleet.
//!
//! Text from agents is displayed and never interpreted, neither by the terminal nor by the browser.
//! Unknown values are shown as unknown, for example the cost of a session that did not report it.
//!
//! | feature | adds |
//! | --- | --- |
//! | `terminal` | screen and keyboard of a real terminal; rendering works without it |

mod intent;
mod model;
mod run_view;
mod source;
pub mod terminal;
pub mod web;

pub use intent::{FleetAction, FleetIntent};
pub use model::{
    AlertLine, AlertSeverity, Dashboard, FleetPhase, Member, MemberId, MemberStatus, Progress,
    Totals, format_cost, format_tokens, schemas,
};
pub use run_view::{RunAction, RunFeed, RunIntent, RunPhase, RunView};
pub use source::{DashboardFeed, DashboardSource};
