//! Providers of models and their configuration.

mod anthropic;
mod google;
mod http_provider;
mod key_source;
mod openai;
mod openai_compatible;
mod proxy;
mod spec;

pub use anthropic::AnthropicSpec;
pub use google::GoogleSpec;
pub use http_provider::HeaderSource;
pub(crate) use http_provider::{Endpoint, HttpProvider};
pub use key_source::KeySource;
pub use openai::OpenAiSpec;
pub use openai_compatible::OpenAiCompatibleSpec;
pub use proxy::Proxy;
pub use spec::{
    IntoProviderSpec, PROVIDER_PORT, Provider, ProviderContext, ProviderSpec, provider_spec,
};
