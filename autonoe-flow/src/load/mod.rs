//! Loads the files of a flow.

mod flow_builder;
mod flow_definition;
mod loader;

pub use flow_builder::FlowBuilder;
pub use flow_definition::FlowDefinition;
pub(crate) use flow_definition::{
    FlowFolder, PromptFile, PromptFiles, PromptUse, PromptUseFile, prompt_uses,
};
pub use loader::{AGENT_FILE, LoadError, flows_in, load};
pub(crate) use loader::{no_folder, possible_prompts, read_document};
