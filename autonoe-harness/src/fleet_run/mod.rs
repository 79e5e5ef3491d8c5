//! A fleet that is durable: what is kept of it, who leads it, what its members do.

mod asked;
mod begin;
mod books;
mod check;
mod conclude;
mod error;
mod home;
mod lead;
mod member_events;
mod member_record;
mod member_said;
mod member_shared;
mod member_work;
mod order;
mod outcome;
mod requests;
mod roadmap_order;
mod run;
mod said;

pub use check::FleetOrderError;
pub use error::FleetRunError;
pub use home::FleetHome;
pub use member_work::MemberWork;
pub use order::{FleetMember, FleetOrder};
pub use outcome::FleetOutcome;
pub use roadmap_order::{Arrangement, Contender};
pub use run::FleetRun;
