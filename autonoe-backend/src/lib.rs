//! What backends that drive a program have in common.
//!
//! - [`Walls`] are the outer sandbox that the program starts in, when a run asks for one. What is
//!   decided about it is decided here, the same for all.
//! - [`SessionPlace`] is the folder of a session and the marker of its processes; [`sweep`] removes
//!   what hosts that were killed left of both.
//! - [`ProgramClient`] is the client of a session around any [`Program`], and a task that owns it.
//!
//! A backend adds what is its own: how its program is started, what it says, and how its turns end.

mod claims;
mod launch;
mod session;
mod spec_values;

pub use claims::{OUTER_SANDBOX_REMEDY, program_claims};
pub use launch::{
    Inside, SandboxNetwork, SandboxSpec, SessionPlace, Walls, add_session_environment, sweep,
};
pub use session::{After, Command, Commands, Program, ProgramClient, Query};
pub use spec_values::{check_limit, check_model};
