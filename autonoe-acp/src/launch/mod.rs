//! Choices become arguments, environment and files, in one place.

mod gemini;
mod gemini_chats;
mod gemini_package;
mod gemini_settings;
mod home;
mod memory_files;
mod options;
mod plan;

pub(crate) use gemini::{BY_API_KEY, api_key, missing_credentials};
pub(crate) use gemini_package::{TESTED_VERSION, is_tested_version};
pub use home::HomeFolder;
pub use options::AcpOptions;
pub(crate) use options::Preset;
pub(crate) use plan::{FOLDER, answered_claims, check, claims, launch, probe_launch};
