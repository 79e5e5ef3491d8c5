//! Providers of models, from configuration.

mod anthropic;
mod context;
mod endpoint;
mod google;
mod header_source;
mod http_provider;
mod key_source;
mod openai;
mod openai_compatible;
mod proxy;
mod spec;

pub use anthropic::AnthropicSpec;
pub use context::ProviderContext;
pub(crate) use endpoint::Endpoint;
pub use google::GoogleSpec;
pub use header_source::HeaderSource;
pub(crate) use http_provider::HttpProvider;
pub use key_source::KeySource;
pub use openai::OpenAiSpec;
pub use openai_compatible::OpenAiCompatibleSpec;
pub use proxy::Proxy;
pub use spec::{IntoProviderSpec, PROVIDER_PORT, Provider, ProviderSpec, provider_spec};
