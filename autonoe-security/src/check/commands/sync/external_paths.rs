//! Options that load code or settings, restricted to files of the project.

use crate::Rule;
use crate::check::arg::Arg;
use crate::check::call::Checked;
use crate::check::commands::tool_options::spelling::{has_one_dash, plain, shortens};
use crate::check::commands::tool_options::targets::{is_key_of_target, is_target};
use crate::check::commands::tool_options::{Tool, option_name, own_args};
use crate::check::write_target;

/// Words in the names of such options, for all tools.
const WORDS: &[&str] = words!(
    "autoload blob bootstrap browser checker compiler config custom cwd dir discover env",
    "environment executable extract file format haste hook import include load metadata module",
    "option parser path plugin pool prettierpath preset processor project python report require",
    "resolve root rule runner sequencer serializer setup standard syntax target transform",
);

/// Letters of such short options, for all tools.
const LETTERS: &str = "CIOPRacdfoprs";

/// Checks that no option loads something outside of the project.
pub(super) fn check(tool: &Tool<'_, '_, '_, '_>) -> Checked {
    let args = own(tool);
    for (at, arg) in args.iter().enumerate() {
        let next = args.get(at + 1);
        match loaded(tool, arg, next) {
            Some(value) if is_outside(tool, &value) => {
                return Err(write_target::escapes(&value, Rule::R64));
            }
            _ => {}
        }
    }
    Ok(())
}

/// Returns the arguments that belong neither to a script of the project nor to a module that is
/// judged separately.
fn own<'t, 's>(tool: &Tool<'t, '_, '_, 's>) -> &'t [Arg<'s>] {
    match tool.name {
        "npm" | "pnpm" | "yarn" | "composer" | "bun" => own_args(tool.name, tool.args),
        "python" | "python3" if tool.args.first().is_some_and(|arg| arg.is("-m")) => &[],
        _ => tool.args,
    }
}

/// Returns the value of an option that loads something.
fn loaded<'s>(
    tool: &Tool<'_, '_, '_, 's>,
    arg: &Arg<'s>,
    next: Option<&Arg<'s>>,
) -> Option<Arg<'s>> {
    let text = arg.text.as_ref();
    if !text.starts_with('-') {
        return None;
    }
    let name = option_name(text);
    if is_target(tool.name, name) {
        return None;
    }
    if text.starts_with("--") || has_one_dash(tool.name) {
        return if !loads(tool.name, name) {
            None
        } else if text.len() > name.len() {
            Some(arg.without_first(name.len() + 1))
        } else {
            next.cloned()
        };
    }
    if text
        .get(..2)
        .is_some_and(|short| is_target(tool.name, short))
    {
        return None;
    }
    let is_loading = |letter: char| LETTERS.contains(letter);
    if text[1..].starts_with(is_loading) && text.len() > 2 {
        Some(arg.without_first(2))
    } else if text.ends_with(is_loading) {
        // The last letter of a cluster may be one of them.
        next.cloned()
    } else {
        None
    }
}

/// Returns whether the long option `name` loads something.
fn loads(tool: &str, name: &str) -> bool {
    let name = plain(tool, name);
    // Patterns select files and load nothing.
    if name.contains("pattern") {
        return false;
    }
    // The compiler writes nothing in sync mode, whatever its output options are.
    if matches!(tool, "tsc" | "vue-tsc") && name.starts_with("out") {
        return false;
    }
    let is_cut = |word: &str| {
        let mut cuts = (3..word.len()).rev();
        shortens(tool) && cuts.any(|length| name.ends_with(&word[..length]))
    };
    WORDS.iter().any(|word| name.contains(word) || is_cut(word))
        // A module that selects the tests.
        || (tool, name.as_str()) == ("jest", "filter")
}

/// Returns whether one of the locations in `value` is not in the project.
fn is_outside(tool: &Tool<'_, '_, '_, '_>, value: &Arg<'_>) -> bool {
    if !value.is_static() {
        return false;
    }
    let text = value.text.trim_start_matches(['=', '@']);
    if text.starts_with('{') {
        return settings_reach_out(text);
    }
    value.tilde || text.split(',').any(|item| is_item_outside(tool, item))
}

fn is_item_outside(tool: &Tool<'_, '_, '_, '_>, item: &str) -> bool {
    let item = item.strip_prefix("file://").unwrap_or(item);
    let mut schemes = ["data:", "http:", "https:", "blob:", "npm:", "jsr:"].iter();
    let is_given = item.split('=').any(|part| part.starts_with("data:"));
    if is_given || schemes.any(|scheme| item.starts_with(scheme)) {
        return true;
    }
    let key = item.split('=').next().unwrap_or(item);
    if is_key_of_target(tool.name, key) {
        return false;
    }
    // The address of a server loads nothing.
    let item = item.split("://").next().unwrap_or(item);
    item.split([':', '=']).any(|place| {
        let is_path = place.starts_with('/') || place.split('/').any(|name| name == "..");
        is_path && !tool.call.is_in_project(place)
    })
}

/// Returns whether literal JSON settings contain paths that may lead out of the project, or output
/// folders.
fn settings_reach_out(json: &str) -> bool {
    const SIGNS: &[&str] = &["\"/", "..", "\\", "data:", "Directory", "Folder", "Dir\""];
    SIGNS.iter().any(|sign| json.contains(sign))
}
