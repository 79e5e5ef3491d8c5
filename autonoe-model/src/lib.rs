//! Language models behind one contract, and an agent that needs only a model.
//!
//! [`ModelClient`] calls a model and never hides a failure. [`Retrying`] retries failed calls.
//! [`PriceTable`] returns the cost of a call, or that it is unknown. [`PricedBackend`] adds costs
//! to a backend that only reports tokens. A [`ProviderSpec`] configures a provider and the location
//! of its key. [`ModelBackend`] runs agents on such a model. [`BuiltInTools`] are their default
//! tools, in a sandbox. [`McpOptions`](mcp::McpOptions) configures the MCP servers of a session.
//! [`ModelSpec`] combines all of this in a configuration file.
//!
//! | module | contents |
//! | --- | --- |
//! | [`contract`] | requests, answers, errors and usage of models, for all providers |
//! | [`provider`] | the settings of each provider |
//! | [`wire`] | the protocol of each provider, without I/O |
//! | [`transport`] | HTTP connections to providers |
//! | [`retry`] | retries and their backoff |
//! | [`price`] | prices of tokens |
//! | [`agent`] | the loop between a model and its tools |
//! | [`tools`] | built-in tools: files, searches and a shell |
//! | [`mcp`] | MCP servers of a session |
//! | [`backend`] | the backend that a configuration file names |
//! | `conformance` | suite for other model clients; needs the feature `conformance` |

pub mod agent;
pub mod backend;
#[cfg(feature = "conformance")]
pub mod conformance;
pub mod contract;
mod known_secrets;
pub mod mcp;
pub mod price;
pub mod provider;
pub mod retry;
pub mod tools;
pub mod transport;
pub mod wire;

/// Crates whose types are part of this API, in the versions that it uses.
pub use {autonoe_core, autonoe_process};

pub use agent::{ModelAgentOptions, ModelBackend};
pub use backend::ModelSpec;
pub use contract::{
    Message, ModelClient, ModelError, ModelErrorCode, ModelEvent, ModelReply, ModelRequest,
    ModelStream, Part, StopReason, ToolChoice, model_fn,
};
pub use price::{PriceTable, PricedBackend};
pub use provider::{
    AnthropicSpec, GoogleSpec, KeySource, OpenAiCompatibleSpec, OpenAiSpec, Provider, ProviderSpec,
};
pub use retry::{RetryPolicy, Retrying};
pub use tools::{BuiltInTools, built_in_tools};
pub use transport::Secret;
