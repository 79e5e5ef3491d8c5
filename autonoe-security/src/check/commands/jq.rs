//! `jq`: programs that print single variables of the environment, but not all of them.

use crate::check::arg::{Arg, Unknown};
use crate::check::call::{Call, Checked};
use crate::check::{credentials, search_args};
use crate::syntax::{Part, Span};
use crate::{Denial, Rule};

pub(super) fn check(call: &Call<'_, '_, '_>) -> Checked {
    check_library(call)?;
    if reads_program_file(call) {
        return check_program_file(call);
    }
    match search_args::first_operand(call) {
        Some(at) => check_program(call, &call.args[at]),
        // The position is not certain.
        None => call
            .args
            .iter()
            .try_for_each(|arg| check_program(call, arg)),
    }
}

fn check_program(call: &Call<'_, '_, '_>, program: &Arg<'_>) -> Checked {
    if is_unknown(program) {
        let reason = "the jq program is not known before it runs";
        return Err(Denial::by(Rule::R94, program.span, reason)
            .instead("write the program literally, and pass values with --arg: jq --arg n \"$n\" '.[$n]' FILE"));
    }
    for text in credentials::possible_texts(call, program) {
        if text.starts_with(credentials::ANY_TEXT) {
            let reason = "the jq program is a value that is not known";
            return Err(Denial::by(Rule::R94, program.span, reason)
                .instead("write the program literally, and pass values with --arg"));
        }
        if imports(&text) {
            return Err(deny_module(program.span));
        }
        if prints_environment(&text) {
            return Err(deny_environment(program.span));
        }
    }
    if program.mentions(imports) {
        return Err(deny_module(program.span));
    }
    if program.mentions(prints_environment) {
        return Err(deny_environment(program.span));
    }
    Ok(())
}

/// Returns whether a program comes from the input of `xargs` or from `find`, or begins with the
/// output of a command.
fn is_unknown(program: &Arg<'_>) -> bool {
    let is_printed = |part: &Part<'_>| {
        let mut part = part;
        while let Part::DoubleQuoted(inner) = part {
            match inner.first() {
                Some(first) => part = first,
                None => return false,
            }
        }
        matches!(
            part,
            Part::CommandSubstitution(_) | Part::ProcessSubstitution(_)
        )
    };
    let is_inserted = |unknown: Unknown<'_>| unknown.part.is_none() && program.parts.is_empty();
    program.unknown.is_some_and(is_inserted)
        || (program.text.is_empty() && program.parts.first().is_some_and(is_printed))
}

/// Returns whether the program is in a file: with `-f` or `--from-file`.
fn reads_program_file(call: &Call<'_, '_, '_>) -> bool {
    let mut own = call.args.iter().take_while(|arg| !arg.is("--"));
    own.any(|arg| match arg.text.strip_prefix('-') {
        Some(long) if long.starts_with('-') => long.starts_with("-from-f"),
        Some(letters) => letters.contains('f'),
        None => false,
    })
}

/// Checks that the program is not the input.
fn check_program_file(call: &Call<'_, '_, '_>) -> Checked {
    let is_input = |arg: &&Arg<'_>| {
        let text = arg.text.as_ref();
        let is_stream = text == "-" || text.starts_with("/dev/") || text.starts_with("/proc/");
        is_stream || is_unknown(arg)
    };
    match call.args.iter().find(is_input) {
        Some(arg) => {
            let reason = "jq would read its program from its input";
            Err(Denial::by(Rule::R94, arg.span, reason)
                .instead("write the program literally, in single quotes: jq '.name' FILE"))
        }
        None => Ok(()),
    }
}

/// Checks that modules are in the project or `/tmp`.
fn check_library(call: &Call<'_, '_, '_>) -> Checked {
    for (at, arg) in call.args.iter().enumerate() {
        let text = arg.text.as_ref();
        let name = text.split('=').next().unwrap_or(text);
        let is_long = name.len() > 3 && "--library-path".starts_with(name);
        let is_short = text.starts_with('-') && !text.starts_with("--") && text.contains('L');
        if !is_long && !is_short {
            continue;
        }
        let folder = match text.strip_prefix("-L") {
            Some("") => call.args.get(at + 1).and_then(Arg::known),
            Some(folder) if arg.is_static() => Some(folder),
            _ if is_long && name.len() == text.len() => call.args.get(at + 1).and_then(Arg::known),
            _ => None,
        };
        if !folder.is_some_and(|folder| call.is_in_reach(folder)) {
            return Err(call.deny_flag(Rule::R94, text, arg.span));
        }
    }
    Ok(())
}

fn deny_module(span: Span) -> Denial {
    Denial::by(
        Rule::R94,
        span,
        "jq would read a module from outside of the text",
    )
    .instead("write the program without import and include")
}

fn deny_environment(span: Span) -> Denial {
    Denial::by(Rule::R94, span, "jq would print every variable")
        .instead("print one variable with echo \"$NAME\"")
}

/// Returns whether a program may use the environment other than by `env.NAME` and `$ENV.NAME`.
fn prints_environment(program: &str) -> bool {
    let (code, has_comment) = code_of(program);
    if has_comment {
        // Versions disagree about the end of a comment.
        return words_in(program)
            .iter()
            .any(|(_, word)| matches!(*word, "env" | "ENV"));
    }
    words_in(&code).into_iter().any(|(at, word)| {
        let (before, behind) = (&code[..at], &code[at + word.len()..]);
        let follows = |sign: char| before.ends_with(sign);
        let previous = before.trim_end().chars().next_back();
        let next = behind.trim_start().chars().next();
        let is_used = match word {
            "env" => !follows('.') && !follows('$'),
            "ENV" => previous == Some('$'),
            _ => false,
        };
        let is_key = word == "env"
            && matches!(
                (previous, next),
                (Some('{' | ','), Some(':')) | (Some('{'), Some('}' | ','))
            );
        let is_one = behind.strip_prefix('.').is_some_and(|name| {
            name.starts_with(|first: char| first.is_ascii_alphabetic() || first == '_')
        });
        is_used && !is_key && !is_one
    })
}

/// Returns whether a program reads modules or data with `import` or `include`.
fn imports(program: &str) -> bool {
    words_in(program).into_iter().any(|(at, word)| {
        let behind = program[at + word.len()..].trim_start();
        matches!(word, "import" | "include")
            && !program[..at].ends_with(['.', '$'])
            && behind.starts_with(['"', '#'])
    })
}

/// Returns the names in a text with their positions.
fn words_in(text: &str) -> Vec<(usize, &str)> {
    let mut words = Vec::new();
    let mut start = None;
    for (at, c) in text.char_indices().chain([(text.len(), ' ')]) {
        match (c.is_alphanumeric() || c == '_', start) {
            (true, None) => start = Some(at),
            (false, Some(from)) => {
                words.push((from, &text[from..at]));
                start = None;
            }
            _ => {}
        }
    }
    words
}

/// Returns a program without the text of its strings, and whether it has a comment.
fn code_of(program: &str) -> (String, bool) {
    let mut code = String::with_capacity(program.len());
    let (mut in_string, mut has_comment) = (false, false);
    // The open parentheses of each interpolation, outermost first.
    let mut interpolations: Vec<usize> = Vec::new();
    let mut rest = program.chars();
    while let Some(c) = rest.next() {
        if in_string {
            code.push('"');
            match c {
                '"' => in_string = false,
                '\\' if rest.next() == Some('(') => {
                    interpolations.push(0);
                    in_string = false;
                }
                _ => {}
            }
            continue;
        }
        code.push(c);
        match c {
            '"' => in_string = true,
            '#' => has_comment = true,
            '(' => {
                if let Some(open) = interpolations.last_mut() {
                    *open += 1;
                }
            }
            ')' => match interpolations.last_mut() {
                Some(0) => {
                    interpolations.pop();
                    in_string = true;
                }
                Some(open) => *open -= 1,
                None => {}
            },
            _ => {}
        }
    }
    (code, has_comment)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_whole_environment_is_found_in_every_position() {
        for program in [
            "env",
            "$ENV",
            "$ ENV",
            "{a:env}",
            "{a:1,b:env}",
            "env.[]",
            "env[]",
            "[env]",
            "{$ENV}",
            "1,env",
            "env|keys",
            "\"\\(env)\"",
            "\"a\\(1+(2))\\(env)\"",
            "\"\\(\"x\\(env)\")\"",
            "env as $x|$x",
            "$ENV[]",
            "# \"\nenv",
            "..|env",
            "if . then env else 1 end",
            "def f: env; f",
            "env .",
        ] {
            assert!(prints_environment(program), "{program}");
        }
    }

    #[test]
    fn single_variables_and_keys_are_not_the_environment() {
        for program in [
            ".env",
            ".a.env.b",
            ".[\"env\"]",
            "$env",
            "env.HOME",
            "$ENV.CI",
            "{env: .x}",
            "{env}",
            "{a, env: 1}",
            "\"an env\"",
            "\"\\(.env)\"",
            ".environment",
            "[env.A, $ENV.B]",
        ] {
            assert!(!prints_environment(program), "{program}");
        }
    }

    #[test]
    fn modules_are_found() {
        assert!(imports("import \"auth\" as $d {search: \"/x\"}; $d"));
        assert!(imports("include\"x\"; ."));
        assert!(!imports(".include, .import"));
        assert!(!imports("{include: \"x\"}"));
    }
}
