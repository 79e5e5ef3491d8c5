//! Locations that commands may write to.

use super::arg::Arg;
use super::call::{Call, Checked};
use super::context::Context;
use super::directories::Directories;
use super::{path, plain_values, protected_state, symlinks, temporary};
use crate::policy::{Mode, Policy};
use crate::{Denial, Layer, Rule};

/// Whether the root of the project itself may be the target.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) enum Root {
    /// As a directory for new files.
    Accepted,
    Refused,
}

/// Checks that a command may write to the file that `target` names.
pub(crate) fn check(
    context: &Context<'_, '_>,
    directories: &Directories<'_>,
    target: &Arg<'_>,
    root: Root,
) -> Result<(), Denial> {
    check_in(context.policy.mode(), context, directories, target, root)
}

/// Checks that a tool may write its output to `target`.
///
/// Sync mode allows tools to build, and their build output is in the project.
pub(crate) fn check_product(
    context: &Context<'_, '_>,
    directories: &Directories<'_>,
    target: &Arg<'_>,
) -> Result<(), Denial> {
    check_in(Mode::Run, context, directories, target, Root::Refused)
}

fn check_in(
    mode: Mode,
    context: &Context<'_, '_>,
    directories: &Directories<'_>,
    target: &Arg<'_>,
    root: Root,
) -> Result<(), Denial> {
    if target.tilde {
        return Err(protected(target, "the home directory"));
    }
    let Some(text) = target.known() else {
        if temporary::is_mktemp_output(context.scope, target) {
            return Ok(());
        }
        let below = temporary::certain_path(context.scope, target);
        if let Some(path) = below.or_else(|| temporary::file_path(context.scope, target)) {
            return check_in(
                mode,
                context,
                directories,
                &Arg::plain(path, target.span),
                root,
            );
        }
        if let Some(paths) = plain_values::paths(context.scope, target) {
            let mut paths = paths.into_iter().map(|path| Arg::plain(path, target.span));
            return paths.try_for_each(|path| check_in(mode, context, directories, &path, root));
        }
        let construct = if target.is_static() {
            "a pattern"
        } else {
            "an unknown value"
        };
        let reason = format!("the target of the write is {construct}");
        return Err(Denial::by(Rule::R27, target.span, reason).instead("write the path literally"));
    };
    if path::is_harmless_device(text) {
        return Ok(());
    }
    if path::is_protected(path::below(text, context.policy.project_dir())) {
        return Err(protected(target, &format!("'{text}'")));
    }
    let Some(places) = directories.resolve(text) else {
        return Err(escapes(target, Rule::R28));
    };
    for place in &places {
        check_place(context.policy, mode, target, place, root)?;
        symlinks::check(context, place, target.span)?;
    }
    Ok(())
}

fn check_place(
    policy: &Policy,
    mode: Mode,
    target: &Arg<'_>,
    place: &str,
    root: Root,
) -> Result<(), Denial> {
    let project = policy.project_dir();
    if path::is_within(place, project) {
        if place == project && root == Root::Refused {
            return Err(protected(target, "the project directory itself"));
        }
        let below = &place[project.len()..];
        if path::is_protected(below) {
            return Err(protected(target, &format!("'{}'", target.text)));
        }
        let is_note = below == "/.autonoe-note.md";
        return match mode {
            Mode::Run => Ok(()),
            Mode::Sync if is_note => Ok(()),
            Mode::Sync => {
                let reason = format!("a sync must not write to '{}'", target.text);
                let mut denial = Denial::by(Rule::R28, target.span, reason);
                denial.layer = Layer::Mode;
                Err(with_sync_advice(denial))
            }
        };
    }
    if path::is_protected(place) {
        return Err(protected(target, &format!("'{}'", target.text)));
    }
    // A name is unknown in place of `*`.
    let in_tmp = place.strip_prefix("/tmp/").unwrap_or_default();
    let folder = in_tmp.split('/').next().unwrap_or_default();
    if folder.contains('*') && path::pattern_may_be_sessions_folder(folder) {
        return Err(protected(target, "the folder of sessions"));
    }
    let is_below_tmp = path::is_within(place, "/tmp") && (mode == Mode::Run || place != "/tmp");
    if is_below_tmp || path::is_harmless_device(place) {
        return Ok(());
    }
    let denial = escapes(target, Rule::R28);
    Err(match mode {
        Mode::Run => denial,
        Mode::Sync => with_sync_advice(denial),
    })
}

/// Adds the writable locations of sync mode to the advice.
fn with_sync_advice(denial: Denial) -> Denial {
    denial
        .rationale("in sync mode, commands may write only to files in /tmp and to the note")
        .instead("write to a file in /tmp, or to .autonoe-note.md in the project directory")
}

/// Checks that the pattern of `target` does not match the sessions folder in `/tmp`.
pub(crate) fn check_session_pattern(call: &Call<'_, '_, '_>, target: &Arg<'_>) -> Checked {
    let Some(first) = target.globs.first() else {
        return Ok(());
    };
    let text = target.text.as_ref();
    let start = text[..*first].rfind('/').map_or(0, |slash| slash + 1);
    let folder = if start == 0 { "." } else { &text[..start] };
    let name = text[start..].split('/').next().unwrap_or_default();
    let places = call.directories.resolve(folder).into_iter().flatten();
    if path::pattern_may_be_sessions_folder(name) && places.into_iter().any(|place| place == "/tmp")
    {
        let reason = format!("'{text}' may be in the folder of sessions");
        let instead = "name the files, or make a directory of your own in /tmp";
        return Err(Denial::by(Rule::R29, target.span, reason).instead(instead));
    }
    Ok(())
}

/// Creates the denial of a path outside of the project.
pub(crate) fn escapes(target: &Arg<'_>, rule: Rule) -> Denial {
    let reason = format!("Path '{}' escapes project directory", target.text);
    Denial::by(rule, target.span, reason).instead("use a path inside the project")
}

/// Creates the denial of a protected path.
pub(crate) fn protected(target: &Arg<'_>, construct: &str) -> Denial {
    let reason = format!("{construct} must not be written to");
    let otherwise = "write to another file of the project";
    let instead = protected_state::advice(&target.text).unwrap_or(otherwise);
    Denial::by(Rule::R29, target.span, reason).instead(instead)
}
