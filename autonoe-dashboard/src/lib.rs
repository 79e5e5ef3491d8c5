//! Live view of a run or of a fleet of agents, in the terminal and in a browser.
//!
//! The driver of a fleet pushes a [`Dashboard`], a snapshot as data, into a [`DashboardFeed`] on
//! every change. Any number of views can watch the feed. Views may skip snapshots, so a slow view
//! never delays the fleet.
//!
//! ```
//! use autonoe_dashboard::{
//!     Dashboard, DashboardFeed, FleetPhase, MemberRow, MemberRowStatus, Progress,
//! };
//!
//! let feed = DashboardFeed::new(
//!     Dashboard::new("Build the shop", "parallel")
//!         .with_members(vec![MemberRow::new("api", "codex"), MemberRow::new("pages", "claude")]),
//! );
//!
//! feed.update(|fleet| {
//!     fleet.phase = FleetPhase::Running;
//!     fleet.members[0].status = MemberRowStatus::Running;
//!     fleet.members[0].progress = Progress::new(0.25);
//!     fleet.update_totals();
//! });
//! ```
//!
//! | view | item |
//! | --- | --- |
//! | terminal | [`terminal::show`], on a terminal and key input of the caller |
//! | browser | [`web::serve`], one page on a loopback port, protected by a token |
//! | browser, with a run | [`web::Site`], the same page for a [`RunFeed`], a fleet, or both |
//! | other | [`DashboardSource::watch`] and the JSON of a snapshot ([`schemas`]) |
//!
//! | module | contents |
//! | --- | --- |
//! | [`terminal`] | the terminal view: drawing, keys, and the loop that shows it |
//! | [`web`] | the browser view: the page, its server and its token |
//!
//! Views never change the run or the fleet. They emit the requests of a user as [`FleetIntent`]s
//! and [`RunIntent`]s, which the caller performs.
//!
//! Text from agents is displayed and never interpreted, neither by the terminal nor by the browser.
//! Unknown values are shown as unknown, for example the cost of a session that did not report it.
//!
//! | feature | adds |
//! | --- | --- |
//! | `terminal` | `terminal::FullScreen`: screen and keyboard of a real terminal; rendering works without it |

mod intent;
mod model;
mod run_page;
mod source;
pub mod terminal;
pub mod web;

pub use intent::{FleetAction, FleetIntent};
pub use model::{
    AlertLine, AlertSeverity, Dashboard, FleetPhase, MemberRow, MemberRowId, MemberRowStatus,
    Progress, Totals, format_cost, format_tokens, schemas,
};
pub use run_page::{RunFeed, RunIntent, RunPage, RunPageAction, RunPagePhase};
pub use source::{DashboardFeed, DashboardSource};
