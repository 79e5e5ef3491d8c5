//! What surrounds a program: its environment, its folder and its walls.

mod enclosed;
mod environment;
mod place;
mod sandbox_spec;
mod sweep;
mod walls;

pub use enclosed::Inside;
pub use environment::add_session_environment;
pub use place::SessionPlace;
pub use sandbox_spec::SandboxSpec;
pub use sweep::sweep;
pub use walls::{SandboxNetwork, Walls};
