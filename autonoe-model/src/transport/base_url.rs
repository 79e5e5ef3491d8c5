//! [`BaseUrl`]: base URL of a provider.

use std::fmt;
use std::str::FromStr;

use hyper::Uri;
use schemars::{JsonSchema, Schema, SchemaGenerator};
use serde::{Deserialize, Serialize};

/// Base URL of a provider: `https://api.anthropic.com`, `http://127.0.0.1:11434/v1`.
///
/// Contains neither a login nor parameters, so it may be printed.
///
/// ```
/// use autonoe_model::transport::BaseUrl;
///
/// let url: BaseUrl = "http://localhost:11434/v1/".parse()?;
///
/// assert_eq!(url.to_string(), "http://localhost:11434/v1");
/// assert!("https://me:secret@example.org".parse::<BaseUrl>().is_err());
/// # Ok::<(), autonoe_model::transport::BaseUrlError>(())
/// ```
#[derive(Clone, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(try_from = "String", into = "String")]
pub struct BaseUrl(String);

/// Error of parsing a [`BaseUrl`]. Does not repeat the text, which may contain a login.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum BaseUrlError {
    /// The text is not a URL.
    #[error("the base URL is not a valid URL")]
    NoUrl,
    /// The scheme is neither `http` nor `https`.
    #[error("the base URL must begin with http:// or https://")]
    Scheme,
    /// The URL contains a login, which could leak.
    #[error("the base URL must not contain credentials; configure a key or a header instead")]
    Login,
    /// The URL has parameters, but paths are appended to it.
    #[error("the base URL must not have parameters")]
    Parameters,
}

impl BaseUrl {
    /// Creates a base URL from a known valid one.
    pub(crate) fn known(url: &'static str) -> Self {
        debug_assert_eq!(url.parse(), Ok(Self(url.to_owned())));
        Self(url.to_owned())
    }

    /// Returns the host, including the port.
    pub(crate) fn host(&self) -> &str {
        let (_, rest) = self.0.split_once("://").unwrap_or_default();
        rest.split('/').next().unwrap_or_default()
    }

    /// Returns whether the connection is encrypted.
    pub(crate) fn is_encrypted(&self) -> bool {
        self.0.starts_with("https://")
    }

    /// Returns the URL of `path` below the base.
    pub(crate) fn join(&self, path: &str) -> Option<Uri> {
        format!("{}{path}", self.0).parse().ok()
    }
}

impl FromStr for BaseUrl {
    type Err = BaseUrlError;

    fn from_str(text: &str) -> Result<Self, BaseUrlError> {
        let text = text.trim();
        let uri: Uri = text.parse().map_err(|_| BaseUrlError::NoUrl)?;
        let Some(scheme @ ("http" | "https")) = uri.scheme_str() else {
            return Err(BaseUrlError::Scheme);
        };
        let authority = uri.authority().ok_or(BaseUrlError::NoUrl)?;
        if authority.as_str().contains('@') {
            return Err(BaseUrlError::Login);
        }
        if uri.host().is_none_or(str::is_empty) {
            return Err(BaseUrlError::NoUrl);
        }
        if uri.query().is_some() || text.contains('#') {
            return Err(BaseUrlError::Parameters);
        }
        // A tunnel through a proxy only knows the default port of the other scheme.
        let port = match (scheme, authority.port()) {
            ("http", None) => ":80",
            _ => "",
        };
        let path = uri.path().trim_end_matches('/');
        Ok(Self(format!("{scheme}://{authority}{port}{path}")))
    }
}

impl TryFrom<String> for BaseUrl {
    type Error = BaseUrlError;

    fn try_from(text: String) -> Result<Self, BaseUrlError> {
        text.parse()
    }
}

impl From<BaseUrl> for String {
    fn from(url: BaseUrl) -> Self {
        url.0
    }
}

impl fmt::Display for BaseUrl {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

impl JsonSchema for BaseUrl {
    fn schema_name() -> std::borrow::Cow<'static, str> {
        "BaseUrl".into()
    }

    fn json_schema(_: &mut SchemaGenerator) -> Schema {
        schemars::json_schema!({"type": "string", "format": "uri", "pattern": "^https?://"})
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_base_url_has_no_query_and_no_credentials() {
        use BaseUrlError::{Login, NoUrl, Parameters, Scheme};
        for (text, expected) in [
            ("https://api.example.org", Ok("https://api.example.org")),
            ("https://api.example.org/", Ok("https://api.example.org")),
            (" https://a.b/v1/x/ ", Ok("https://a.b/v1/x")),
            ("http://127.0.0.1:8080", Ok("http://127.0.0.1:8080")),
            ("http://box.lan/v1", Ok("http://box.lan:80/v1")),
            ("http://[::1]:8080/v1", Ok("http://[::1]:8080/v1")),
            ("https://me:pw@a.b", Err(Login)),
            ("https://sk-1@a.b", Err(Login)),
            ("https://a.b/v1?key=sk-1", Err(Parameters)),
            ("https://a.b/v1#top", Err(Parameters)),
            ("ftp://a.b", Err(Scheme)),
            ("api.example.org", Err(Scheme)),
            ("/v1", Err(Scheme)),
            ("", Err(NoUrl)),
            ("https://", Err(NoUrl)),
            ("https://a b", Err(NoUrl)),
        ] {
            let url = text.parse::<BaseUrl>().map(String::from);
            assert_eq!(url.as_deref(), expected.as_ref().map(|url| *url), "{text}");
        }
    }

    #[test]
    fn a_path_is_added_behind_it() {
        let url: BaseUrl = "https://a.b/proxy/".parse().expect("a URL");

        let joined = url.join("/v1/messages?beta=true").expect("a path");

        assert_eq!(joined, "https://a.b/proxy/v1/messages?beta=true");
        assert_eq!(url.host(), "a.b");
        assert_eq!(url.join("/v 1"), None);
    }
}
