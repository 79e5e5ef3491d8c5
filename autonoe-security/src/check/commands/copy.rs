//! `mkdir` and `cp`: creating directories and copying files.

use super::copied_name;
use crate::check::arg::Arg;
use crate::check::backup_suffix;
use crate::check::call::{Call, Checked};
use crate::check::options::{self, ParsedArg};
use crate::check::path;
use crate::check::protected_state;
use crate::check::write_target::Root;
use crate::option_table::OptionTable;
use crate::syntax::{ArgWord, commands};
use crate::{Denial, Rule};

const MKDIR: OptionTable = options!("m:", "context? help mode= parents verbose version");

pub(super) fn mkdir(call: &Call<'_, '_, '_>) -> Checked {
    // A folder with an unknown name is denied as a write target.
    if let Some(arg) = call
        .args
        .iter()
        .find(|arg| !arg.is_static() && arg.text.is_empty())
    {
        call.check_write_target(arg, Root::Refused)?;
    }
    for parsed in options::read(call, &MKDIR)? {
        if let ParsedArg::Operand(folder) = parsed {
            call.check_write_target(folder, Root::Refused)?;
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
    for parsed in options::read(call, &CP)? {
        match parsed {
            ParsedArg::Operand(operand) => operands.push(operand),
            ParsedArg::Option { name, value, arg } => match name.as_str() {
                "-s" | "-l" | "--symbolic-link" | "--link" => {
                    return Err(call.deny_flag(Rule::R36, &name, arg.span));
                }
                // An abbreviation that may be one of these.
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
    let is_temporary = |place: &str| path::is_within(place, "/tmp");
    if is_recursive && !call.directories.all_locations(&target.text, is_temporary) {
        for source in sources.iter().filter(|it| replaces || copies_contents(it)) {
            check_contents(call, source)?;
        }
    }
    let places = call.directories.resolve(&target.text).into_iter().flatten();
    if places.into_iter().any(|place| place == "/tmp") {
        for source in sources {
            check_copy_into_tmp(source, keeps_path, is_recursive, replaces)?;
        }
    }
    call.check_write_target(target, Root::Accepted)
}

/// Checks that a copy into `/tmp` itself is not written to the sessions folder.
fn check_copy_into_tmp(
    source: &Arg<'_>,
    keeps_path: bool,
    is_recursive: bool,
    replaces: bool,
) -> Checked {
    let text = source.text.trim_end_matches('/');
    let is_contents = replaces || matches!(path::file_name(text), "." | "..");
    let mut names = text.split('/');
    let names_it = keeps_path && names.any(path::pattern_may_be_sessions_folder);
    let may_match =
        source.known().is_none() && path::pattern_may_be_sessions_folder(path::file_name(text));
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

/// Returns whether a source stands for what it contains: `template/.`.
fn copies_contents(source: &Arg<'_>) -> bool {
    source.mentions(|text| matches!(path::file_name(text.trim_end_matches('/')), "." | ".."))
}

/// Checks that a copy of the contents of `source` brings no folder with a protected name along.
///
/// The text shows this only if it makes a repository; a resolver sees what is on the disk.
fn check_contents(call: &Call<'_, '_, '_>, source: &Arg<'_>) -> Checked {
    let exists = |place: &String| {
        let links = call.context.links;
        let mut names = [".git"].into_iter().chain(path::STATE_FOLDERS);
        names.any(|name| {
            let inside = path::resolve(place, name);
            links.is_some_and(|links| links.resolve(&inside).is_some())
        })
    };
    let mut places = call.directories.resolve(&source.text).into_iter().flatten();
    if makes_repository(call) || places.any(|place| exists(&place)) {
        let reason = format!("the contents of '{}' may include .git", source.text);
        let instead = "copy the files that you need, each by its own name";
        return Err(Denial::by(Rule::R29, source.span, reason).instead(instead));
    }
    Ok(())
}

/// Returns whether a command of the script makes a repository.
fn makes_repository(call: &Call<'_, '_, '_>) -> bool {
    commands(call.context.scope.script()).any(|command| {
        let words: Vec<_> = command.words.iter().map(ArgWord::static_text).collect();
        let has = |names: &[&str]| {
            let mut words = words.iter().flatten();
            words.any(|word| names.contains(&path::file_name(word)))
        };
        let makers = ["init", "clone", "worktree", "submodule"];
        // The text of `bash -c` is one word.
        let is_script =
            |word: &str| word.contains("git") && makers.iter().any(|it| word.contains(it));
        (has(&["git"]) && has(&makers)) || words.iter().flatten().any(|word| is_script(word))
    })
}

/// Checks that the name of its source does not redirect a copy to another location.
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
    if path::is_sessions_folder(path::file_name(text.trim_end_matches('/'))) {
        let reason = format!("the copy of '{text}' may be called like the folder of sessions");
        let instead = "give the copy another name";
        return Err(Denial::by(Rule::R29, source.span, reason).instead(instead));
    }
    // Links below /proc can lead anywhere.
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
