//! Language models behind one contract, and agents that call a model API directly.
//!
//! [`ModelClient`] calls a model and returns every failure as an error. [`Retrying`] retries failed
//! calls. [`PriceTable`] returns the cost of a call, or that it is unknown. [`PricedBackend`] adds
//! costs to a backend that only reports tokens. A [`ProviderSpec`] configures a provider and the
//! location of its key.
//!
//! [`ModelBackend`] runs agents on such a model. The agent loop and the file tools run in the
//! process of the caller. [`built_in_tools`] are the default tools: files, searches, and a shell whose
//! commands run in a bubblewrap sandbox. [`McpOptions`](mcp::McpOptions) configures the MCP servers
//! of a session. [`ModelSpec`] describes a backend with all of these settings, for example in a
//! configuration file:
//!
//! ```
//! use autonoe_core::gate::ProjectPaths;
//! use autonoe_core::spec::{BackendSpec, SpecContext};
//! // Links the crate, which registers the backend "model".
//! use autonoe_model as _;
//! use serde_json::json;
//!
//! fn main() -> Result<(), Box<dyn std::error::Error>> {
//!     let backend: Box<dyn BackendSpec> = serde_json::from_value(json!({
//!         "type": "model",
//!         "provider": {"type": "google", "key": {"env": "TEAM_KEY"}},
//!         "model": "gemini-2.5-pro",
//!         "thinking": 4096,
//!         "maxRounds": 80,
//!     }))?;
//!
//!     let context = SpecContext::new(ProjectPaths::new("/srv/project"))
//!         .with_environment([("TEAM_KEY".into(), "123".into())]);
//!     let _agents = backend.build(&context)?;
//!
//!     let error = backend.build(&SpecContext::new(ProjectPaths::new("/srv/project"))).err();
//!     let error = error.expect("the key is missing").to_string();
//!     assert!(error.ends_with("the variable TEAM_KEY is not set"), "{error}");
//!     Ok(())
//! }
//! ```
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
//!
//! | feature | adds |
//! | --- | --- |
//! | `conformance` | the module `conformance` |

pub mod agent;
pub mod backend;
#[cfg(feature = "conformance")]
pub mod conformance;
pub mod contract;
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
    Message, MessagePart, ModelClient, ModelError, ModelErrorCode, ModelEvent, ModelReply,
    ModelRequest, ModelStream, StopReason, ToolChoice, model_fn,
};
pub use price::{PriceTable, PricedBackend};
pub use provider::{
    AnthropicSpec, GoogleSpec, KeySource, OpenAiCompatibleSpec, OpenAiSpec, Provider, ProviderSpec,
};
pub use retry::{RetryPolicy, Retrying};
pub use tools::{BuiltInOptions, built_in_tools};
pub use transport::Secret;
