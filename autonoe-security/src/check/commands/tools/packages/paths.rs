//! Paths in the arguments of packages whose options are unknown.

use crate::Rule;
use crate::check::arg::Arg;
use crate::check::call::{Call, Checked};
use crate::check::commands::code_source::is_address;
use crate::check::commands::glob_targets;
use crate::check::commands::tool_options::option_name;
use crate::check::write_target::{escapes, protected};

/// Words in the names of options whose value is no path of this machine.
const NO_PATHS: &[&str] = words!(
    "base endpoint exclude filter grep header href ignore match pattern prefix regex route uri url"
);

/// Options that load code.
const LOADING: &[&str] =
    words!("-r --require --import --loader --preload --plugin -t --transform --transforms");

/// Checks that no argument names a place outside of the project and `/tmp`, or `.git`.
///
/// It is unknown which options name a file to write or a folder to serve.
pub(in crate::check::commands::tools) fn check(
    call: &Call<'_, '_, '_>,
    args: &[Arg<'_>],
) -> Checked {
    let mut before = "";
    for arg in args {
        let text = arg.text.as_ref();
        let is_option = text.starts_with('-');
        let name = option_name(text);
        let (option, value) = if !is_option {
            (before, arg.clone())
        } else if name.len() < text.len() {
            (name, arg.without_first(name.len() + 1))
        } else {
            before = name;
            continue;
        };
        before = "";
        if LOADING.contains(&option) && is_address(&value.text) {
            return Err(call
                .deny(
                    Rule::R92,
                    format!("'{}' is code from the network", value.text),
                )
                .at(value.span.range())
                .instead("use a file of the project"));
        }
        let is_no_path = option.starts_with("--")
            && !option.contains("out")
            && NO_PATHS.iter().any(|word| option.contains(word));
        if !is_no_path {
            stays_inside(call, &value)?;
        }
    }
    Ok(())
}

fn stays_inside(call: &Call<'_, '_, '_>, value: &Arg<'_>) -> Checked {
    let text = value.text.as_ref();
    let wild = text.find(['*', '?', '[', '{']).unwrap_or(text.len());
    let start = &text[..wild];
    let is_path = text.starts_with(['/', '~']) || text.split('/').any(|name| name == "..");
    let leaves =
        value.is_in_home() || text.starts_with('~') || (is_path && !call.is_in_reach(start));
    if leaves && !text.contains([' ', '\n']) {
        Err(escapes(value, Rule::R92))
    } else if glob_targets::reaches_protected(text) {
        Err(protected(value, &format!("'{text}'")))
    } else {
        Ok(())
    }
}
