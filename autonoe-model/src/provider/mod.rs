//! Providers of models and their configuration.

mod anthropic;
mod google;
mod http_provider;
mod key_source;
mod openai;
mod openai_compatible;
mod spec;

pub use anthropic::AnthropicSpec;
pub use google::GoogleSpec;
pub(crate) use http_provider::{Endpoint, HttpProvider};
pub use http_provider::{HeaderSource, Proxy};
pub use key_source::KeySource;
pub use openai::OpenAiSpec;
pub use openai_compatible::OpenAiCompatibleSpec;
pub use spec::{PROVIDER_PORT, Provider, ProviderContext, ProviderSpec, provider_spec};
