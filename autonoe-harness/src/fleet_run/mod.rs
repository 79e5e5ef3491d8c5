//! Durable fleets: their orders, their state, their leadership and the work of their members.

mod conclude;
mod error;
mod fleet_recorder;
mod home;
mod leadership;
mod log_messages;
mod member_projection;
mod member_recorder;
mod member_work;
mod order;
mod preflight;
mod requests;
mod roadmap_order;
mod run;

pub use error::{FleetOrderError, FleetRunError};
pub use home::FleetHome;
pub use member_work::MemberWork;
pub use order::{FleetMember, FleetOrder};
pub use roadmap_order::Candidate;
pub use run::FleetRun;
