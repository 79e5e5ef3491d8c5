//! `awk`: computing and printing only.

mod cursor;
mod program;
mod reader;

use self::cursor::Problem;
use super::option_allow_list::OptionAllowList;
use super::program_text::{check_read, program_texts};
use crate::check::arg::Arg;
use crate::check::call::{Call, Checked};
use crate::check::options::{self, ParsedArg};
use crate::policy::Mode;
use crate::{Denial, Rule};

/// Options on which gawk, mawk, busybox and BSD awk agree, or that the others do not have.
pub(super) const AWK: OptionAllowList = OptionAllowList {
    options: options!(
        "bhPrSVF:v:e:f:i:E:l:W:d?o?p?D?L?",
        "assign= bignum characters-as-bytes copyright csv debug? dump-variables? exec=",
        "field-separator= file= gen-pot help include= lint? lint-old load= locale=",
        "non-decimal-data no-optimize optimize persist? posix pretty-print? profile? re-interval",
        "sandbox source= trace traditional use-lc-numeric version",
    ),
    refused: words!(
        "-f -i -E -l -W -d -o -p -D -L --debug --dump-variables --exec --file --gen-pot --include",
        "--lint --load --locale --persist --pretty-print --profile",
    ),
    rule: Rule::R81,
    instead: "write the program literally, in single quotes: awk '{print $1}' FILE",
};

pub(super) fn check(call: &Call<'_, '_, '_>) -> Checked {
    call.check_patterns()?;
    let literally = |denial: Denial| denial.instead(AWK.instead);
    let (parsed, operands) = options::read_leading(call, &AWK.options).map_err(literally)?;
    AWK.check(call, &parsed)?;
    let mut is_given = false;
    for parsed in &parsed {
        let ParsedArg::Option { name, value, arg } = parsed else {
            continue;
        };
        let Some(value) = value else {
            continue;
        };
        match name.as_str() {
            "-e" | "--source" => {
                is_given = true;
                check_program(call, value)?;
            }
            "-v" | "--assign" if !is_assignment(value) => {
                return Err(call.deny_flag(Rule::R81, name, arg.span));
            }
            _ => {}
        }
    }
    let files = match operands {
        files if is_given => files,
        [program, files @ ..] => {
            check_program(call, program)?;
            files
        }
        [] => &[],
    };
    files.iter().try_for_each(|file| check_file(call, file))
}

/// Returns whether a program neither writes files nor runs commands.
pub(super) fn only_reads(program: &str) -> bool {
    program::files_read(program).is_ok()
}

/// Returns whether the name of the variable is literal. Its value is data.
fn is_assignment(value: &Arg<'_>) -> bool {
    value.text.split_once('=').is_some_and(|(name, _)| {
        let mut bytes = name.bytes();
        bytes
            .next()
            .is_some_and(|it| it.is_ascii_alphabetic() || it == b'_')
            && bytes.all(|it| it.is_ascii_alphanumeric() || it == b'_')
    })
}

/// Checks a file operand: gawk opens a connection for `/inet/tcp/0/HOST/PORT`.
fn check_file(call: &Call<'_, '_, '_>, file: &Arg<'_>) -> Checked {
    let text = file.text.as_ref();
    // Not every awk stops reading options at the program.
    if text.starts_with('-') && text != "-" {
        return Err(call
            .deny_flag(Rule::R81, text, file.span)
            .instead("write options first, and begin the path of a file with ./"));
    }
    let may_continue = !file.is_static() && "/inet".starts_with(text);
    // A variable may hold any name. Code of the project may open connections anyway, where it runs.
    let is_variable = text.is_empty() && !file.parts.is_empty();
    let may_connect = is_variable && call.mode() == Mode::Run && call.policy().runs_code();
    if text.starts_with("/inet") || (may_continue && !may_connect) {
        Err(call
            .deny(Rule::R81, "awk opens a network connection for /inet")
            .instead(if is_variable {
                "begin the path with ./, as in awk '{print $1}' \"./$file\""
            } else {
                "name the files: awk '{print $1}' FILE"
            }))
    } else {
        Ok(())
    }
}

fn check_program(call: &Call<'_, '_, '_>, program: &Arg<'_>) -> Checked {
    let deny = |reason: String, instead: &'static str| {
        Err(Denial::by(Rule::R81, program.span, reason).instead(instead))
    };
    let Some(texts) = program_texts(program) else {
        let reason = "the awk program is unknown until it runs".to_owned();
        return deny(
            reason,
            "write the program in single quotes, and pass values with -v: \
             awk -v n=\"$n\" '$1 == n' FILE",
        );
    };
    let mut files = Vec::new();
    let mut problem = None;
    for text in &texts {
        match program::files_read(text) {
            Ok(read) => files.extend(read),
            Err(found) => problem = problem.or(Some(found)),
        }
    }
    let Some(problem) = problem else {
        let mut files = files.iter();
        return files.try_for_each(|file| check_read(call, Rule::R81, file, program.span));
    };
    match problem {
        Problem::NotUnderstood(reason) => deny(
            format!("the awk program is not understood: {reason}"),
            "write a simpler program, with brackets around comparisons and divisions",
        ),
        Problem::Executes => deny(
            "the awk program runs a command with system()".to_owned(),
            "run the command itself, and pipe its output to awk",
        ),
        Problem::Pipes => deny(
            "the awk program has a pipe".to_owned(),
            "put the pipe into the shell: awk '{print $1}' FILE | sort",
        ),
        Problem::Writes => deny(
            "the awk program writes to a file with >".to_owned(),
            "print, and redirect in the shell; put comparisons into brackets: \
             awk '{print ($1 > $2)}' FILE",
        ),
        Problem::ReadsUnknown => deny(
            "the awk program reads a file whose name is not literal".to_owned(),
            "name the file as an argument after the program: awk '{print $1}' FILE",
        ),
        Problem::Name(name) => deny(
            format!("the awk program uses {name}"),
            "pass values with -v: awk -v n=1 '$1 == n' FILE",
        ),
    }
}
