//! Projects that travel from host to host as a branch of git.

mod agents_git;
mod arriving;
mod aside;
mod courier;
mod error;
mod foreign;
mod host;
mod packing;
mod publishing;
mod pushing;
mod remote;
mod seeing;
mod stamp;
mod steps;
mod travelling_project;

pub use error::TravelError;
pub use host::TravellingHost;
pub use remote::TravelRemote;
pub use travelling_project::{KeptWork, TravellingProject};
