//! `sqlite3`: literal SQL on a database of the project.
//!
//! A database may hold code: a view can call functions that run programs. A database therefore
//! counts as a script of the project, unless SQLite's safe mode is on.

mod sql;

use self::sql::Effect;
use super::scripts::{self, runs_code_of_project};
use crate::check::arg::Arg;
use crate::check::call::{Call, Checked};
use crate::check::text::has_only;
use crate::check::write_target::Root;
use crate::check::{resolve, temporary};
use crate::policy::Mode;
use crate::syntax::Word;
use crate::{Denial, Rule};

/// Options that choose the output or restrict the program, without their dashes.
const FLAGS: &[&str] = words!(
    "ascii bail batch box column csv header html json line list markdown noheader quote readonly",
    "safe table tabs version",
);

/// Options with a value that is printed.
const VALUES: &[&str] = words!("newline nullvalue separator");

/// Commands of the SQLite shell that print information about the database.
const PRINTING: &[&str] = words!(
    ".bail .changes .header .headers .mode .nullvalue .width",
    ".databases .dump .fullschema .indexes .indices .schema .tables",
);

const INSTEAD: &str = "use sqlite3 FILE 'SELECT ..' with literal SQL, or the database client of the project's language";

pub(super) fn check(call: &Call<'_, '_, '_>) -> Checked {
    let (mut is_safe, mut is_read_only) = (false, false);
    let mut operands = Vec::new();
    let mut args = call.args.iter();
    while let Some(arg) = args.next() {
        if !arg.text.starts_with('-') {
            operands.push(arg);
            continue;
        }
        let name = arg.known().map(|text| text.trim_start_matches('-'));
        match name {
            Some(name) if FLAGS.contains(&name) => {
                is_safe |= name == "safe";
                is_read_only |= name == "readonly";
            }
            Some(name) if VALUES.contains(&name) => {
                if args.next().is_none_or(|value| value.known().is_none()) {
                    return Err(call.deny_flag(Rule::R99, &arg.text, arg.span));
                }
            }
            _ => {
                return Err(call
                    .deny_flag(Rule::R99, &arg.text, arg.span)
                    .instead(INSTEAD));
            }
        }
    }
    if call
        .args
        .iter()
        .any(|arg| arg.is("-version") || arg.is("--version"))
        && operands.is_empty()
    {
        return Ok(());
    }
    let Some((file, texts)) = operands.split_first().filter(|(_, texts)| {
        !texts.is_empty() || call.input.is_some() || call.input_file.is_some()
    }) else {
        return Err(call
            .deny(Rule::R99, "sqlite3 would read commands from its input")
            .instead(INSTEAD));
    };
    let mut effect = Effect::Reads;
    for text in texts {
        effect = effect.max(effect_of(call, text)?);
    }
    if let Some(input) = call.input.filter(|_| texts.is_empty()) {
        effect = effect_of_input(call, input)?;
    } else if let Some(input) = call.input_file.filter(|_| texts.is_empty()) {
        effect = effect_of_file(call, input)?;
    }
    check_file(call, file)?;
    let only_reads = is_safe && is_read_only && effect == Effect::Reads;
    match call.mode() {
        Mode::Sync if !only_reads => {
            return Err(call
                .deny(Rule::R99, "sqlite3 may change the database")
                .instead("use sqlite3 -safe -readonly FILE 'SELECT ..'"));
        }
        Mode::Run if !is_safe => runs_code_of_project(call, "databases of the project")?,
        Mode::Run | Mode::Sync => {}
    }
    if file.is(":memory:") {
        return Ok(());
    }
    // Reading a database with a write-ahead log creates files next to it.
    call.check_write_target(file, Root::Refused)
}

/// Returns the effect of one text, and denies texts that reach more than the database.
fn effect_of(call: &Call<'_, '_, '_>, text: &Arg<'_>) -> Result<Effect, Denial> {
    let deny =
        |reason: &str| Err(Denial::by(Rule::R99, text.span, reason.to_owned()).instead(INSTEAD));
    let Some(sql) = text.known() else {
        return deny("the SQL is unknown until it runs");
    };
    if sql.starts_with('.') {
        return if let Some(file) = file_to_read(sql) {
            scripts::check(call, file, text.span).map(|()| Effect::Changes)
        } else if is_printing(sql) {
            Ok(Effect::Reads)
        } else {
            deny("this command of sqlite3 may run programs or reach other files")
        };
    }
    match sql::effect(sql) {
        Effect::ReachesMore => deny("the SQL may run programs or reach other files"),
        effect => Ok(effect),
    }
}

/// Returns the effect of a here-document, in which each command has a line of its own.
fn effect_of_input(call: &Call<'_, '_, '_>, input: &str) -> Result<Effect, Denial> {
    let (commands, lines): (Vec<&str>, Vec<&str>) =
        input.lines().partition(|line| line.starts_with('.'));
    let effect = sql::effect(&lines.join("\n"));
    let has_own_syntax = lines.into_iter().any(is_of_shell);
    let (files, others): (Vec<&str>, Vec<&str>) = commands
        .into_iter()
        .partition(|command| file_to_read(command).is_some());
    if effect == Effect::ReachesMore || has_own_syntax || !others.into_iter().all(is_printing) {
        let reason = "the here-document may run programs or reach other files";
        return Err(call.deny(Rule::R99, reason).instead(INSTEAD));
    }
    let mut effect = effect;
    for file in files.into_iter().filter_map(file_to_read) {
        scripts::check(call, file, call.span)?;
        effect = Effect::Changes;
    }
    Ok(effect)
}

/// Returns the effect of a file of the project with SQL, which counts as a script of the project.
fn effect_of_file<'s>(call: &Call<'_, '_, 's>, word: &'s Word<'s>) -> Result<Effect, Denial> {
    let mut files = Vec::new();
    resolve::arguments(word, call.context.scope, &mut files)?;
    match &files[..] {
        [file] if file.known().is_some() => {
            scripts::check(call, &file.text, file.span).map(|()| Effect::Changes)
        }
        _ => {
            let reason = "the file of commands is unknown until it runs";
            Err(Denial::by(Rule::R99, word.span, reason).instead(INSTEAD))
        }
    }
}

/// Returns the file whose commands `.read FILE` runs. With `|`, it would start a program.
fn file_to_read(command: &str) -> Option<&str> {
    let words: Vec<&str> = command.split_ascii_whitespace().collect();
    match words[..] {
        [".read", file] if has_only(file, "_./-") && !file.starts_with('-') => {
            Some(file).filter(|_| !command.contains('\n'))
        }
        _ => None,
    }
}

/// Returns whether the SQLite shell, and not SQL, defines the meaning of a line: `go` and `/` end a
/// statement, and `#` begins a comment.
fn is_of_shell(line: &str) -> bool {
    let line = line.trim_start();
    let word = line.split(|c: char| !c.is_ascii_alphanumeric()).next();
    let is_end = word.is_some_and(|word| word.eq_ignore_ascii_case("go"));
    is_end || line.starts_with('#') || (line.starts_with('/') && !line.starts_with("/*"))
}

/// Returns whether a command of the SQLite shell only prints. Its arguments are plain names.
fn is_printing(command: &str) -> bool {
    let mut words = command.split_ascii_whitespace();
    let is_plain = |byte: u8| byte.is_ascii_alphanumeric() || b"_%.".contains(&byte);
    words.next().is_some_and(|name| PRINTING.contains(&name))
        && words.all(|word| word.bytes().all(is_plain))
        && !command.contains('\n')
}

/// Checks that the database is a plain file.
fn check_file(call: &Call<'_, '_, '_>, file: &Arg<'_>) -> Checked {
    let is_plain = |path: &str| !path.is_empty() && !path.to_ascii_lowercase().starts_with("file:");
    if file.known().is_some_and(is_plain) || temporary::is_mktemp_output(call.context.scope, file) {
        Ok(())
    } else {
        Err(call
            .deny(Rule::R99, "the database is not a known file")
            .instead("write the path of the database literally"))
    }
}
