//! `mkdir` and `cp`.

use super::copied_name;
use crate::check::arg::Arg;
use crate::check::backup_suffix;
use crate::check::call::{Call, Checked};
use crate::check::options::{self, Seen};
use crate::check::path;
use crate::check::protected_state;
use crate::check::write_target::Root;
use crate::option_table::OptionTable;
use crate::{Denial, Rule};

const MKDIR: OptionTable = options!("m:", "context? help mode= parents verbose version");

pub(super) fn mkdir(call: &Call<'_, '_, '_>) -> Checked {
    // A folder whose name is not known is refused as what it is, a place to write to.
    if let Some(arg) = call
        .args
        .iter()
        .find(|arg| !arg.is_static() && arg.text.is_empty())
    {
        call.write_target(arg, Root::Refused)?;
    }
    for seen in options::read(call, &MKDIR)? {
        if let Seen::Operand(folder) = seen {
            call.write_target(folder, Root::Refused)?;
        }
    }
    Ok(())
}

const CP: OptionTable = options!(
    "S:t:",
    "archive attributes-only backup? context? copy-contents debug dereference force help",
    "interactive keep-directory-symlink link no-clobber no-dereference no-preserve=",
    "no-target-directory one-file-system parents preserve? recursive reflink? remove-destination",
    "sparse= strip-trailing-slashes suffix= symbolic-link target-directory= update? verbose",
    "version",
);

pub(super) fn cp(call: &Call<'_, '_, '_>) -> Checked {
    let mut into: Option<Arg<'_>> = None;
    let mut operands = Vec::new();
    let (mut keeps_path, mut keeps_links) = (false, false);
    let (mut is_recursive, mut replaces) = (false, false);
    for seen in options::read(call, &CP)? {
        match seen {
            Seen::Operand(operand) => operands.push(operand),
            Seen::Option { name, value, arg } => match name.as_str() {
                "-s" | "-l" | "--symbolic-link" | "--link" => {
                    return Err(call.deny_flag(Rule::R36, &name, arg.span));
                }
                // A shortened name that may be one of these.
                "--s" | "--l" | "--li" | "--sy" => {
                    return Err(call.deny_flag(Rule::R36, &name, arg.span));
                }
                "-t" | "--target-directory" => into = value,
                "-S" | "--suffix" => match value {
                    Some(suffix) => backup_suffix::check(&suffix)?,
                    None => return Err(call.deny_flag(Rule::R95, &name, arg.span)),
                },
                "--parents" => keeps_path = true,
                "-L" | "--dereference" => keeps_links = false,
                "-a" | "-r" | "-R" | "--archive" | "--recursive" => {
                    (keeps_links, is_recursive) = (true, true);
                }
                "-P" | "-d" | "--no-dereference" | "--preserve" => keeps_links = true,
                "-T" | "--no-target-directory" => replaces = true,
                _ => {}
            },
        }
    }
    let sources = match into {
        Some(_) => &operands[..],
        None => operands
            .split_last()
            .map_or(&[][..], |(_, sources)| sources),
    };
    for source in sources {
        check_source(call, source, keeps_path)?;
        if keeps_links && !call.is_in_reach(&source.text) {
            return Err(call
                .deny(Rule::R36, format!("'{}' may be a symlink", source.text))
                .instead("copy what it leads to, with -L behind the other options"));
        }
    }
    let Some(target) = into.as_ref().or(operands.last().copied()) else {
        return Ok(());
    };
    let places = call.here.resolve(&target.text).into_iter().flatten();
    if places.into_iter().any(|place| place == "/tmp") {
        for source in sources {
            check_copy_into_tmp(source, keeps_path, is_recursive, replaces)?;
        }
    }
    call.write_target(target, Root::Accepted)
}

/// Checks that a copy into `/tmp` itself does not land in the folder of sessions.
fn check_copy_into_tmp(
    source: &Arg<'_>,
    keeps_path: bool,
    is_recursive: bool,
    replaces: bool,
) -> Checked {
    let text = source.text.trim_end_matches('/');
    let is_contents = replaces || matches!(path::file_name(text), "." | "..");
    let mut names = text.split('/');
    let names_it = keeps_path && names.any(path::pattern_may_be_session_parent);
    let may_match =
        source.known().is_none() && path::pattern_may_be_session_parent(path::file_name(text));
    if names_it || is_recursive && (is_contents || may_match) {
        let reason = format!(
            "the copy of '{}' may land in the folder of sessions",
            source.text
        );
        let instead = "copy it to a directory of its own, such as /tmp/NAME";
        return Err(Denial::by(Rule::R29, source.span, reason).instead(instead));
    }
    Ok(())
}

/// Checks that a copy does not land elsewhere because of what its source is called.
fn check_source(call: &Call<'_, '_, '_>, source: &Arg<'_>, keeps_path: bool) -> Checked {
    let text = source.text.as_ref();
    let scope = call.context.scope;
    let may_be = |name: &&'static str| copied_name::may_be(scope, source, name, keeps_path);
    let mut protected = [".git"].into_iter().chain(path::STATE_FOLDERS);
    if let Some(name) = protected.find(may_be) {
        let written = scope.text().get(source.span.range()).unwrap_or(text);
        let problem = if keeps_path {
            "have a path with"
        } else {
            "be called"
        };
        let reason = format!("the copy of '{written}' may {problem} {name}");
        let otherwise = "copy the files that you need, each by its own name";
        let instead = protected_state::advice(name).unwrap_or(otherwise);
        return Err(Denial::by(Rule::R29, source.span, reason).instead(instead));
    }
    if path::is_session_parent(path::file_name(text.trim_end_matches('/'))) {
        let reason = format!("the copy of '{text}' may be called like the folder of sessions");
        let instead = "give the copy another name";
        return Err(Denial::by(Rule::R29, source.span, reason).instead(instead));
    }
    // Links below /proc lead to everywhere.
    let leads_away = path::is_within(&path::resolve("/", text), "/proc") && text.starts_with('/');
    let leaves = keeps_path && !(source.is_static() && path::stays_below(text));
    if leads_away || leaves {
        Err(call
            .deny(Rule::R36, format!("'{text}' cannot be copied like this"))
            .instead("copy files by a plain path"))
    } else {
        Ok(())
    }
}
