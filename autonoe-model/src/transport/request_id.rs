//! The provider's name of a call.

use hyper::HeaderMap;

/// Where providers tell it.
const NAMES: [&str; 3] = ["request-id", "x-request-id", "x-goog-request-id"];

/// Returns the provider's name of a call, which its support asks for.
pub(super) fn request_id(headers: &HeaderMap) -> Option<String> {
    let found = NAMES.iter().find_map(|name| headers.get(*name))?;
    Some(found.to_str().ok()?.to_owned())
}
