//! Loads the files of a flow.

mod flow_builder;
mod flow_definition;
mod flow_listing;
mod folder;
mod loader;
mod prompt_uses;

pub use flow_builder::FlowBuilder;
pub use flow_definition::FlowDefinition;
pub(crate) use flow_definition::PromptFile;
pub use flow_listing::flows_in;
pub(crate) use flow_listing::possible_prompts;
pub(crate) use folder::{FlowFolder, FolderError};
pub use loader::{AGENT_FILE, LoadError, load};
pub(crate) use loader::{no_folder, read_document};
pub(crate) use prompt_uses::{PromptUse, PromptUseFile, prompt_uses};
