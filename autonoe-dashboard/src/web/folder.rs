//! The folder of addresses that the cookie is for.

use sha2::{Digest, Sha256};
use subtle::ConstantTimeEq;

use super::ViewToken;

/// The name of the cookie.
pub(super) const NAME: &str = "autonoe-dashboard";

/// Returns the folder of addresses that the cookie is for, for example `/v/0a1b..`.
///
/// Browsers send a cookie to all ports of a host, and on the other ports of this machine are
/// servers of the very agents that are watched here. None of them can have a browser ask for
/// addresses in a folder that it cannot guess, so that none of them gets to see the cookie.
pub(super) fn folder(token: &ViewToken) -> String {
    let digest = Sha256::digest(format!("the folder of {}", token.reveal()));
    let name: String = digest
        .iter()
        .take(16)
        .map(|byte| format!("{byte:02x}"))
        .collect();
    format!("/v/{name}")
}

/// Returns the path within the folder; `None` if it is elsewhere.
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
