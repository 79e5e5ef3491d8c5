//! Paths in the text of a program, such as the argument of `node -e`.

use super::location_match::LocationMatch;
use super::match_place;
use super::possible_paths::{self, HOME};
use crate::check::arg::Arg;
use crate::check::context::Context;
use crate::check::directories::Directories;
use crate::check::path_pattern::BOUNDARIES;
use crate::check::pipes;
use crate::check::scope::{Fact, Scope};
use crate::syntax::Part;

/// Expressions with which programs look up the user's home.
const HOME_LOOKUPS: [&str; 5] = ["home", "HOME", "expanduser", "homedir", "USERPROFILE"];

/// Returns whether an argument may be the text of a program.
pub(super) fn may_be_program(arg: &Arg<'_>) -> bool {
    let text = arg.text.as_ref();
    !arg.is_static() || text.contains(BOUNDARIES)
}

/// Returns the credential location that a program names.
///
/// A program can build a path in ways that its text does not show. This only finds plain paths.
pub(super) fn find_credential_location(
    context: &Context<'_, '_>,
    here: &Directories<'_>,
    parts: &[Part<'_>],
) -> Option<&'static str> {
    if let [Part::Literal(text) | Part::Quoted(text)] = parts
        && !may_name_credentials(text)
    {
        return None;
    }
    let texts = possible_paths::from_parts(context.scope, parts);
    texts
        .iter()
        .filter(|text| may_name_credentials(text))
        .find_map(|text| place_in_text(context, here, text))
}

/// Returns whether a script pipes text into an interpreter.
pub(super) fn is_piped_program(scope: &Scope<'_>) -> bool {
    scope.fact(Fact::PipesProgram, |_| {
        pipes::feeds_interpreter(scope.script())
    })
}

/// Rejects most texts quickly: a location has a component with a leading dot, or is absolute.
pub(super) fn may_name_credentials(text: &str) -> bool {
    ["/.", "'.", "\".", "`.", "/etc/", "/run/"]
        .iter()
        .any(|sign| text.contains(sign))
}

fn place_in_text(
    context: &Context<'_, '_>,
    here: &Directories<'_>,
    text: &str,
) -> Option<&'static str> {
    let looks_up_home = HOME_LOOKUPS.iter().any(|lookup| text.contains(lookup));
    let is_end = |c: char| BOUNDARIES.contains(&c) || matches!(c, '[' | ']' | '{' | '}' | '+');
    for token in text.split(is_end) {
        // The rest of `https://host/path`, but not of `file:///path`.
        let is_remote = token.starts_with("//") && !token.starts_with("///");
        let is_whole = token.starts_with(['/', '~']) || token.starts_with(HOME);
        if is_remote {
            continue;
        }
        let in_home = format!("{HOME}/{}", token.trim_start_matches('/'));
        let found = if is_whole {
            match_place(context, here, token)
        } else {
            None
        };
        let found = match found {
            Some(LocationMatch::Inside(place)) => Some(place),
            _ if looks_up_home && token.contains('.') => match match_place(context, here, &in_home)
            {
                Some(LocationMatch::Inside(place)) => Some(place),
                _ => None,
            },
            _ => None,
        };
        // Rule R24 judges paths below /proc.
        if let Some(place) = found.filter(|place| !place.starts_with("/proc/")) {
            return Some(place);
        }
    }
    None
}
