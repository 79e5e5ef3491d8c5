//! `cd`: the virtual directory moves.

use crate::check::arg::Arg;
use crate::check::call::Call;
use crate::check::directories::Directories;
use crate::check::{path, symlinks};
use crate::{Denial, Rule};

/// Judges `cd` and returns where it leads.
pub(crate) fn enter<'w>(call: &Call<'_, 'w, '_>) -> Result<Directories<'w>, Denial> {
    let mut args = call.args;
    while let [first, rest @ ..] = args {
        match first.known() {
            Some("-P" | "-L") => args = rest,
            Some("--") => {
                args = rest;
                break;
            }
            Some(option) if option.starts_with('-') => {
                return Err(call.deny_flag(Rule::R25, option, first.span));
            }
            _ => break,
        }
    }
    match args {
        [target] => enter_path(call, target),
        _ => Err(call
            .deny(Rule::R25, "cd needs exactly one directory")
            .instead("name a directory of the project")),
    }
}

/// Returns the directories that `target` leads to, if commands may run there.
pub(crate) fn enter_path<'w>(
    call: &Call<'_, 'w, '_>,
    target: &Arg<'_>,
) -> Result<Directories<'w>, Denial> {
    let deny = |reason: String| {
        Denial::by(Rule::R25, target.span, reason).instead("name a directory of the project")
    };
    let Some(folder) = target
        .known()
        .filter(|folder| *folder != "-" && !folder.is_empty())
    else {
        return Err(deny("the directory is not known before it runs".to_owned()));
    };
    let escapes = || deny(format!("Path '{folder}' escapes project directory"));
    let entered = call.here.entered(folder).ok_or_else(escapes)?;
    let project = call.policy().project_dir();
    for place in call.here.resolve(folder).ok_or_else(escapes)? {
        match place.strip_prefix(project) {
            Some(below) if path::is_within(&place, project) => {
                if path::is_protected(below) {
                    return Err(deny(format!(
                        "'{folder}' is not a place to run commands in"
                    )));
                }
            }
            _ if path::is_within(&place, "/tmp") => {}
            _ => return Err(escapes()),
        }
        symlinks::check(call.walk, &place, target.span)?;
    }
    Ok(entered)
}
