//! The address of a webhook.

/// Says what is wrong with the address of a webhook.
///
/// Plain `http` is for this machine alone: what is told elsewhere is not for
/// everybody to read.
pub(crate) fn address_problem(address: &str) -> Option<String> {
    let told = |problem: &str| Some(format!("{address:?}: {problem}"));
    let Some((scheme, rest)) = address.split_once("://") else {
        return told("there is no https://");
    };
    let authority = rest.split(['/', '?', '#']).next().unwrap_or_default();
    let is_odd = |c: char| c.is_whitespace() || c.is_control() || "\\\"<>`{}|^".contains(c);
    if address.contains(is_odd) {
        return told("there is a character that no address has");
    }
    if authority.contains('@') {
        return Some("there is a name or a password in the address".to_owned());
    }
    let (host, port) = match authority.rsplit_once(':') {
        Some((host, port)) if !port.contains(']') => (host, Some(port)),
        _ => (authority, None),
    };
    if host.is_empty() {
        return told("there is no host");
    }
    if port.is_some_and(|port| port.parse::<u16>().map_or(true, |port| port == 0)) {
        return told("there is no fit port");
    }
    match scheme {
        "https" => None,
        "http" if matches!(host, "localhost" | "127.0.0.1" | "[::1]") => None,
        "http" => told("plain http is only for this machine"),
        _ => told("the scheme is neither https nor http"),
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
