//! HTTP transport to providers: sends requests, streams events, and maps failures to errors.

mod answer_parser;
mod base_url;
mod connector;
mod failure;
mod http_client;
mod response;
mod secret;
mod sse;
mod timeouts;
mod trust;

pub use base_url::{BaseUrl, BaseUrlError};
#[doc(hidden)]
pub use connector::Connector;
pub(crate) use connector::ProxyRoute;
pub(crate) use http_client::{HttpClient, HttpModel, pool};
pub use secret::{Secret, SecretSet};
pub use timeouts::Timeouts;
pub use trust::{SystemAuthorities, Trust};
