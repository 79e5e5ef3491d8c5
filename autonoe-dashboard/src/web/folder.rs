//! URL folder that scopes the session cookie.

use sha2::{Digest, Sha256};
use subtle::ConstantTimeEq;

use super::ViewToken;

/// Name of the cookie.
pub(super) const NAME: &str = "autonoe-dashboard";

/// Returns the URL folder that the cookie is valid for, for example `/v/0a1b..`.
///
/// Browsers send a cookie to all ports of a host, and the watched agents may run servers on other
/// ports of this machine. The folder is unguessable, so none of these servers can make a browser
/// request an address in it and receive the cookie.
pub(super) fn folder(token: &ViewToken) -> String {
    let digest = Sha256::digest(format!("the folder of {}", token.reveal()));
    let name: String = digest
        .iter()
        .take(16)
        .map(|byte| format!("{byte:02x}"))
        .collect();
    format!("/v/{name}")
}

/// Returns the path relative to the folder, or `None` if it lies outside.
pub(super) fn within<'p>(folder: &str, path: &'p str) -> Option<&'p str> {
    let (head, rest) = path.split_at_checked(folder.len())?;
    let is_it: bool = head.as_bytes().ct_eq(folder.as_bytes()).into();
    (is_it && rest.starts_with('/')).then_some(rest)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_folder_of_a_secret_is_its_own_and_does_not_tell_it() {
        let folders = ["0123456789abcdef", "0123456789abcdeF"].map(|secret| {
            let token = ViewToken::new(secret).expect("long enough");
            assert_eq!(folder(&token), folder(&token));
            assert!(!folder(&token).contains(secret));
            folder(&token)
        });

        assert_ne!(folders[0], folders[1]);
        assert_eq!(folders[0].len(), "/v/".len() + 32);
    }
}
