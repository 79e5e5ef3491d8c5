//! The page, and what a browser may do with it.

use std::sync::LazyLock;

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use sha2::{Digest, Sha256};

/// The page: one file, without anything from elsewhere. `%FOLDER%` stands for where its cookie is for.
const PAGE: &str = include_str!("page.html");

/// Returns the page for a browser whose cookie is for `folder`.
pub(super) fn page_in(folder: &str) -> String {
    PAGE.replace("%FOLDER%", folder)
}

/// What a browser may do with the page: its one script and its one style, by their hashes, and
/// requests to this server. Nothing that gets into the page by mistake runs.
pub(super) static POLICY: LazyLock<String> = LazyLock::new(|| {
    let script = hash(within(PAGE, "<script>", "</script>"));
    let style = hash(within(PAGE, "<style>", "</style>"));
    format!(
        "default-src 'none'; script-src 'sha256-{script}'; style-src 'sha256-{style}'; \
         connect-src 'self'; img-src data:; base-uri 'none'; form-action 'none'; \
         frame-ancestors 'none'; require-trusted-types-for 'script'; trusted-types 'none'"
    )
});

fn within<'p>(page: &'p str, from: &str, to: &str) -> &'p str {
    let after = page.split_once(from).map_or("", |(_, after)| after);
    after.split_once(to).map_or("", |(within, _)| within)
}

fn hash(text: &str) -> String {
    STANDARD.encode(Sha256::digest(text))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_page_has_one_script_one_style_and_nothing_from_elsewhere() {
        for (part, count) in [
            ("<script", 1),
            ("%FOLDER%", 1),
            ("<style", 1),
            ("http:", 0),
            ("https:", 0),
            ("//cdn", 0),
            ("src=", 0),
            ("innerHTML", 0),
            ("outerHTML", 0),
            ("insertAdjacentHTML", 0),
            ("document.write", 0),
            ("eval(", 0),
            (" onclick=", 0),
            (" style=", 0),
        ] {
            assert_eq!(PAGE.matches(part).count(), count, "{part}");
        }
        assert!(within(PAGE, "<script>", "</script>").len() > 500);
        assert!(within(PAGE, "<style>", "</style>").len() > 500);
    }
}
