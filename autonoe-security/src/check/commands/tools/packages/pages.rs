//! Packages that open web pages or send requests.

use super::Package;
use crate::check::arg::Arg;
use crate::check::call::Checked;
use crate::check::commands::server_url::{is_local_url, is_web_address};
use crate::check::commands::tool_options::option_name;
use crate::{Denial, Rule};

/// Packages whose arguments are addresses of pages.
const OPENING: &[&str] = words!(
    "artillery autocannon axe broken-link-checker capture-website capture-website-cli lighthouse",
    "linkinator loadtest open open-cli pa11y pageres pageres-cli percollate wait-on",
);

/// Checks that such a package only reaches this machine.
pub(super) fn check(package: &Package<'_, '_>) -> Checked {
    if !OPENING.contains(&package.name) {
        return Ok(());
    }
    let is_foreign = |arg: &&Arg<'_>| {
        let text = arg.text.as_ref();
        let name = option_name(text);
        let value = if text.starts_with('-') && name.len() < text.len() {
            &text[name.len() + 1..]
        } else {
            text
        };
        // `http-get://` is a form of wait-on.
        let is_address = is_web_address(value) || value.contains("://");
        let is_whole = arg.is_static() && !arg.is_pattern();
        is_address && !is_local_url(value, is_whole) && !value.starts_with("file://")
    };
    match package.args.iter().find(is_foreign) {
        Some(page) => {
            let reason = format!("'{}' may be a page of another machine", page.text);
            Err(Denial::by(Rule::R92, page.span, reason)
                .instead("use a page of localhost: http://localhost:PORT/"))
        }
        None => Ok(()),
    }
}
