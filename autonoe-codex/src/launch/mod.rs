//! Choices become files, arguments and an environment, in one place.

mod config_file;
mod databases;
mod fit;
mod furnishing;
mod home;
mod options;
mod plan;
mod program_life;
mod provider;
mod session_defaults;
mod settings;

pub(crate) use databases::Changing;
pub(crate) use fit::Fit;
pub(crate) use furnishing::Furnishing;
pub use home::CodexHome;
pub use options::CodexOptions;
pub(crate) use plan::{FOLDER, LaunchPlan, bare_environment, claims, furnish};
pub use program_life::ProgramLife;
pub use provider::CodexProvider;
pub(crate) use session_defaults::completed;
pub(crate) use settings::thread_settings;
