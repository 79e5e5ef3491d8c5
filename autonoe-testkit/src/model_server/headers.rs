//! Request headers with secrets redacted.

use hyper::HeaderMap;
use hyper::header::{HeaderName, HeaderValue};

/// Replacement for secrets.
const REDACTED: &str = "[redacted]";

/// Words in names that indicate a secret.
const SECRET_WORDS: [&str; 7] = [
    "auth",
    "cookie",
    "credential",
    "key",
    "password",
    "secret",
    "token",
];

/// The headers of a request, without the values of secrets.
///
/// Credentials are replaced by `[redacted]`: every header whose name mentions keys, tokens and the
/// like. [`credential`](Self::credential) still returns the kind of credential.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Headers {
    fields: Vec<(String, String)>,
    credential: Option<Credential>,
}

/// The kind of a client's credential.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Credential {
    /// A key in its own header, such as `x-api-key`.
    ApiKey,
    /// A token after `Authorization: Bearer`.
    Bearer,
}

impl Headers {
    /// Returns the first header of this name, ignoring case.
    pub fn get(&self, name: &str) -> Option<&str> {
        let mut fields = self.fields.iter();
        let (_, value) = fields.find(|(known, _)| known.eq_ignore_ascii_case(name))?;
        Some(value)
    }

    /// Returns all headers, with names in lower case.
    pub fn iter(&self) -> impl Iterator<Item = (&str, &str)> {
        let fields = self.fields.iter();
        fields.map(|(name, value)| (name.as_str(), value.as_str()))
    }

    /// Returns the kind of the client's credential, or `None` if it sent none.
    pub fn credential(&self) -> Option<Credential> {
        self.credential
    }
}

impl From<&HeaderMap> for Headers {
    fn from(headers: &HeaderMap) -> Self {
        let mut fields = Vec::with_capacity(headers.len());
        let mut credential = None;
        for (name, value) in headers {
            let name = name.as_str();
            let value = String::from_utf8_lossy(value.as_bytes());
            credential = credential.or(credential_in(name, &value));
            let value = if is_secret(name) {
                REDACTED.to_owned()
            } else {
                value.into_owned()
            };
            fields.push((name.to_owned(), value));
        }
        Self { fields, credential }
    }
}

/// Returns `path` with the values of secret parameters redacted.
pub(super) fn without_secrets(path: &str) -> String {
    let Some((path, query)) = path.split_once('?') else {
        return path.to_owned();
    };
    let parameters = query.split('&').map(|parameter| {
        let name = parameter.split('=').next().unwrap_or(parameter);
        if is_secret(name) {
            format!("{name}={REDACTED}")
        } else {
            parameter.to_owned()
        }
    });
    format!("{path}?{}", parameters.collect::<Vec<_>>().join("&"))
}

/// Creates a header of a script; panics if it is invalid, because the script is wrong then.
pub(super) fn scripted_header(name: &str, value: &str) -> (HeaderName, HeaderValue) {
    let header = HeaderName::try_from(name).ok();
    let header = header.zip(HeaderValue::try_from(value).ok());
    header.unwrap_or_else(|| panic!("HTTP does not allow the header `{name}: {value}`"))
}

fn is_secret(name: &str) -> bool {
    let name = name.to_ascii_lowercase();
    SECRET_WORDS.iter().any(|word| name.contains(word))
}

fn credential_in(name: &str, value: &str) -> Option<Credential> {
    match name {
        "authorization" => value.starts_with("Bearer ").then_some(Credential::Bearer),
        name if name.ends_with("api-key") => Some(Credential::ApiKey),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn headers(fields: &[(&'static str, &'static str)]) -> Headers {
        let fields = fields.iter().map(|(name, value)| {
            let name = HeaderName::from_static(name);
            (name, HeaderValue::from_static(value))
        });
        Headers::from(&fields.collect::<HeaderMap>())
    }

    #[test]
    fn only_the_kind_of_a_secret_is_recorded() {
        for (name, value, kind) in [
            ("x-api-key", "sk-hunter2", Some(Credential::ApiKey)),
            ("x-goog-api-key", "hunter2", Some(Credential::ApiKey)),
            ("authorization", "Bearer hunter2", Some(Credential::Bearer)),
            ("authorization", "Basic hunter2", None),
            ("proxy-authorization", "Basic hunter2", None),
            ("cookie", "session=hunter2", None),
            ("x-our-token", "hunter2", None),
        ] {
            let headers = headers(&[(name, value)]);

            assert_eq!(headers.get(name), Some(REDACTED), "{name}");
            assert_eq!(headers.credential(), kind, "{name}");
            assert!(!format!("{headers:?}").contains("hunter2"), "{name}");
        }
    }

    #[test]
    fn other_headers_are_recorded_unchanged() {
        let headers = headers(&[("anthropic-beta", "a,b"), ("user-agent", "claude-cli/2")]);

        assert_eq!(headers.get("Anthropic-Beta"), Some("a,b"));
        assert_eq!(headers.get("accept"), None);
        assert_eq!(
            headers.iter().collect::<Vec<_>>(),
            [("anthropic-beta", "a,b"), ("user-agent", "claude-cli/2")]
        );
    }

    #[test]
    fn a_secret_in_the_path_is_not_recorded() {
        for (path, expected) in [
            ("/v1/messages?beta=true", "/v1/messages?beta=true"),
            ("/v1/x?alt=sse&key=hunter2", "/v1/x?alt=sse&key=[redacted]"),
            ("/v1/messages", "/v1/messages"),
        ] {
            assert_eq!(without_secrets(path), expected);
        }
    }
}
