//! Validation of webhook addresses.

/// Returns the problem of a webhook address, if it has one.
///
/// Plain `http` is allowed on this machine only, because anyone on the network path could read the
/// notice.
pub(crate) fn address_problem(address: &str) -> Option<String> {
    let invalid = |problem: &str| Some(format!("{address:?}: {problem}"));
    let Some((scheme, rest)) = address.split_once("://") else {
        return invalid("the address does not start with https://");
    };
    let authority = rest.split(['/', '?', '#']).next().unwrap_or_default();
    let is_odd = |c: char| c.is_whitespace() || c.is_control() || "\\\"<>`{}|^".contains(c);
    if address.contains(is_odd) {
        return invalid("the address contains an invalid character");
    }
    if authority.contains('@') {
        return Some("the address contains a user name or a password".to_owned());
    }
    let (host, port) = match authority.rsplit_once(':') {
        Some((host, port)) if !port.contains(']') => (host, Some(port)),
        _ => (authority, None),
    };
    if host.is_empty() {
        return invalid("the address has no host");
    }
    if port.is_some_and(|port| port.parse::<u16>().map_or(true, |port| port == 0)) {
        return invalid("the port is not a number from 1 to 65535");
    }
    match scheme {
        "https" => None,
        "http" if matches!(host, "localhost" | "127.0.0.1" | "[::1]") => None,
        "http" => invalid("http is only allowed for this machine"),
        _ => invalid("the scheme must be https or http"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_address_is_https_or_on_this_machine() {
        for fine in [
            "https://example.com",
            "https://example.com:8443/hooks?x=1#y",
            "http://localhost:9000/hook",
            "http://127.0.0.1:1/",
            "http://[::1]:80/a",
            "https://[2001:db8::1]/a",
        ] {
            assert_eq!(address_problem(fine), None, "{fine}");
        }
        for wrong in [
            "",
            "example.com/hook",
            "ftp://example.com",
            "http://example.com/hook",
            "http://localhost.example.com/",
            "http://127.0.0.1@example.com/",
            "https://",
            "https:///hook",
            "https://example.com:0/",
            "https://example.com:http/",
            "https://user:secret@example.com/",
            "https://exa mple.com/",
            "https://example.com/{id}",
        ] {
            assert!(address_problem(wrong).is_some(), "{wrong}");
        }
    }

    #[test]
    fn a_password_in_an_address_is_not_repeated() {
        let problem = address_problem("https://user:secret@example.com/").expect("wrong");

        assert!(!problem.contains("secret"), "{problem}");
    }
}
