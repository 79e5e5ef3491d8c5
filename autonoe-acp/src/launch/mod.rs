//! Launch of an agent: builds arguments, environment and files from [`AcpOptions`].

mod gemini;
mod gemini_chats;
mod gemini_settings;
mod memory_files;
mod options;
mod plan;

pub(crate) use gemini::{
    BY_API_KEY, TESTED_VERSION, api_key, is_tested_version, missing_credentials,
};
pub(crate) use options::Preset;
pub use options::{AcpOptions, HomeFolder};
pub(crate) use plan::{FOLDER, answered_claims, check, claims, launch, probe_launch};
