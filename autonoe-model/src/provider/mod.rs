//! Providers of models and their configuration.

mod anthropic;
mod context;
mod endpoint;
mod google;
mod http_provider;
mod key_source;
mod openai;
mod openai_compatible;
mod spec;

pub use anthropic::AnthropicSpec;
pub use context::{ProviderContext, Proxy};
pub(crate) use endpoint::Endpoint;
pub use google::GoogleSpec;
pub use http_provider::HeaderSource;
pub(crate) use http_provider::HttpProvider;
pub use key_source::KeySource;
pub use openai::OpenAiSpec;
pub use openai_compatible::OpenAiCompatibleSpec;
pub use spec::{IntoProviderSpec, PROVIDER_PORT, Provider, ProviderSpec, provider_spec};
