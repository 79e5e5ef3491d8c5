//! Tests of URL patterns in permission rules.

use proptest::prelude::*;

use super::*;

fn covers(pattern: &str, url: &str) -> bool {
    UrlPattern::parse(pattern)
        .expect("the pattern is valid")
        .covers(url)
}

#[test]
fn patterns_cover_matching_urls() {
    for (pattern, url, covered) in [
        ("*", "anything at all", true),
        ("domain:example.com", "https://example.com/x", true),
        ("domain:example.com", "http://a.EXAMPLE.com:8080/x", true),
        ("domain:example.com", "https://badexample.com/", false),
        ("domain:example.com", "https://example.com.evil.com/", false),
        ("domain:example.com", "ftp://example.com/", false),
        (
            "https://api.example.com/*",
            "https://api.example.com/a/b?c#d",
            true,
        ),
        (
            "https://api.example.com/*",
            "https://API.example.com:443",
            true,
        ),
        (
            "https://api.example.com/*",
            "http://api.example.com/",
            false,
        ),
        (
            "https://api.example.com/*",
            "https://api.example.com:8443/",
            false,
        ),
        (
            "https://api.example.com:*/*",
            "https://api.example.com:8443/",
            true,
        ),
        (
            "https://api.example.com/v1/*",
            "https://api.example.com/v1/a",
            true,
        ),
        (
            "https://api.example.com/v1/*",
            "https://api.example.com/v2/a",
            false,
        ),
        (
            "https://api.example.com/v1/*",
            "https://api.example.com/v1/../v2",
            false,
        ),
        (
            "https://api.example.com/v1/*",
            "https://api.example.com/v1/%2E%2e/v2",
            false,
        ),
        ("https://*.example.com/*", "https://a.b.example.com/", true),
        ("https://*.example.com/*", "https://example.com/", false),
        (
            "https://*.example.com/*",
            "https://evil.com/.example.com/",
            false,
        ),
        (
            "https://*.example.com/*",
            "https://evil.com?.example.com/",
            false,
        ),
        (
            "https://*.example.com/*",
            "https://evil.com#.example.com/",
            false,
        ),
        (
            "https://*.example.com/*",
            "https://evil.com:1.example.com/",
            false,
        ),
        ("https://example.com", "https://example.com/", true),
        ("https://example.com", "https://example.com/a", false),
    ] {
        assert_eq!(covers(pattern, url), covered, "{pattern} {url}");
    }
}

#[test]
fn a_pattern_touches_every_spelling_of_a_url() {
    for (pattern, url, touched) in [
        ("https://a.com/secret/*", "https://a.com/secret/x", true),
        ("https://a.com/secret/*", "http://a.com/secret/x", true),
        ("https://a.com/secret/*", "https://a.com//secret//x", true),
        ("https://a.com/secret/*", "https://a.com/%73ecret%2fx", true),
        ("https://a.com/a%20b", "https://a.com/%61%20b", true),
        ("https://a.com/secret/*", "https://a.com./secret/x", true),
        (
            "https://a.com/secret/*",
            "https://a.com:8443/secret/x",
            false,
        ),
        ("https://a.com/secret/*", "https://a.com/public", false),
        ("https://a.com/secret/*", "https://b.com/secret/x", false),
        ("domain:127.0.0.1", "http://127.1/", true),
        ("domain:a.com", "https://b.com/", false),
    ] {
        let pattern = UrlPattern::parse(pattern).expect("the pattern is valid");

        assert_eq!(pattern.touches(url), touched, "{pattern:?} {url}");
    }
}

#[test]
fn a_deceptive_url_is_covered_only_by_the_star() {
    for url in [
        "https://api.example.com@evil.com/",
        "https://api.example.com:x@evil.com/",
        "https://user@api.example.com/",
        "https://api.example.com.evil.com/",
        "https://evil.com/?https://api.example.com/",
        "https://evil.com\\.api.example.com/",
        "https://evil.com\\@api.example.com/",
        "https://evil.com/\t@api.example.com/",
        "https://api.exa\nmple.com/",
        "https://api.example.com /",
        "https:///api.example.com/",
        "javascript:https://api.example.com/",
    ] {
        for pattern in [
            "https://api.example.com/*",
            "https://*.example.com/*",
            "domain:example.com",
        ] {
            assert!(!covers(pattern, url), "{pattern} {url:?}");
        }
        assert!(covers("*", url), "{url:?}");
    }
}

#[test]
fn unsupported_patterns_are_rejected() {
    for text in [
        "example.com",
        "ftp://a.com/*",
        "domain:",
        "domain:*.a.com",
        "domain:a.com/x",
        "https://",
        "https://u@a.com/*",
        "https://a.com*",
        "https://a.*/x",
        "https://a.com:x/",
        "https://a b/*",
    ] {
        assert!(UrlPattern::parse(text).is_err(), "{text:?} was accepted");
    }
}

proptest! {
    #[test]
    fn only_the_own_host_is_covered(noise in "[a-z0-9@:/?#.\\\\ -]{0,20}") {
        for url in [format!("https://{noise}evil.com/"), format!("https://{noise}.evil.com")] {
            let path_only = noise.starts_with("api.example.com/")
                || noise.starts_with("api.example.com?")
                || noise.starts_with("api.example.com#");

            prop_assert!(path_only || !covers("https://api.example.com/*", &url), "{url}");
        }
    }
}
