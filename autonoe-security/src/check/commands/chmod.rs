//! `chmod`: only makes files of the project executable.

use crate::Rule;
use crate::check::arg::Arg;
use crate::check::call::{Call, Checked};
use crate::check::write_target::{check_session_pattern, escapes, protected};
use crate::check::{path, symlinks};

pub(super) fn check(call: &Call<'_, '_, '_>) -> Checked {
    if let Some(option) = call.args.iter().find(|arg| arg.text.starts_with('-')) {
        return Err(call.deny_flag(Rule::R37, &option.text, option.span));
    }
    let Some((mode, files)) = call
        .args
        .split_first()
        .filter(|(_, files)| !files.is_empty())
    else {
        return Err(call
            .deny(Rule::R37, "chmod needs a mode and a file")
            .instead("use chmod +x FILE"));
    };
    if !mode.known().is_some_and(adds_execution) {
        let reason = format!("the mode '{}' is not allowed", mode.text);
        return Err(call.deny(Rule::R37, reason).instead("use chmod +x FILE"));
    }
    files.iter().try_for_each(|file| check_operand(call, file))
}

/// Returns whether the mode is `[ugoa]*+x`.
fn adds_execution(mode: &str) -> bool {
    mode.strip_suffix("+x")
        .is_some_and(|program| program.bytes().all(|byte| b"ugoa".contains(&byte)))
}

fn check_operand(call: &Call<'_, '_, '_>, file: &Arg<'_>) -> Checked {
    if !file.is_static() || file.tilde || is_wild(file) {
        return Err(call
            .deny(Rule::R37, "the file is unknown until it runs")
            .instead("write the path literally"));
    }
    check_session_pattern(call, file)?;
    let text = file.text.as_ref();
    // Only the folders before a pattern are known.
    let fixed = match file.globs.first() {
        None => text,
        Some(glob) => match text[..*glob].rfind('/') {
            None => ".",
            Some(0) => "/",
            Some(slash) => &text[..slash],
        },
    };
    if !call.is_in_reach(fixed) {
        return Err(escapes(file, Rule::R37));
    }
    for place in call.directories.resolve(fixed).into_iter().flatten() {
        let project = call.policy().project_dir();
        let below = path::below(&place, project);
        let is_root = below.is_empty() && !file.is_pattern();
        let is_protected = [below, path::below(text, project)]
            .into_iter()
            .any(path::is_protected);
        if is_root || is_protected {
            return Err(protected(file, &format!("'{text}'")));
        }
        symlinks::check(call.context, &place, file.span)?;
    }
    Ok(())
}

/// Returns whether a pattern may match hidden files, or files in other folders.
pub(super) fn is_wild(file: &Arg<'_>) -> bool {
    let mut start = 0;
    let mut matched = false;
    file.text.split('/').any(|component| {
        let end = start + component.len();
        let has_glob = file.globs.iter().any(|at| (start..end).contains(at));
        start = end + 1;
        let is_wild = (has_glob && component.starts_with('.')) || (matched && component == "..");
        matched |= has_glob;
        is_wild
    })
}
