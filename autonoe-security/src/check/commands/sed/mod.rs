//! `sed`: editing text and files in place.

mod script;

use crate::check::text::{has_only, is_digits};
use std::borrow::Cow;

use self::script::Effect;
use super::option_allow_list::OptionAllowList;
use super::program_text::{check_read, program_texts};
use super::writers;
use crate::check::arg::Arg;
use crate::check::call::{Call, Checked};
use crate::check::options::ParsedArg;
use crate::check::plain_values;
use crate::check::write_target::Root;
use crate::policy::Mode;
use crate::syntax::{Operation, Part, SimpleCommand, commands};
use crate::{Denial, Rule};

/// Allowed options of `sed`. `-l` is missing, because it takes a value in GNU sed and none in BSD
/// sed.
pub(super) const SED: OptionAllowList = OptionAllowList {
    options: options!(
        "nErsuzbe:f:i?",
        "binary debug expression= file= follow-symlinks help in-place? line-length= null-data",
        "posix quiet regexp-extended sandbox separate silent unbuffered version zero-terminated",
    ),
    refused: words!("-f --file"),
    rule: Rule::R80,
    instead: "write the script literally, in single quotes: sed 's/old/new/' FILE",
};

/// The arguments of one call.
#[derive(Default)]
struct Arguments<'c, 's> {
    /// Scripts of `-e`.
    scripts: Vec<Arg<'s>>,
    operands: Vec<&'c Arg<'s>>,
    in_place: Option<InPlace<'s>>,
}

struct InPlace<'s> {
    /// The backup suffix in the same argument as the option.
    suffix: Option<Arg<'s>>,
    /// Whether BSD sed reads the next argument as the suffix.
    is_bare: bool,
}

pub(super) fn check(call: &Call<'_, '_, '_>) -> Checked {
    call.check_patterns()?;
    let arguments = read(call)?;
    let (scripts, files) = match &arguments.operands[..] {
        files if !arguments.scripts.is_empty() => (arguments.scripts.clone(), files),
        [script, files @ ..] => (vec![(*script).clone()], files),
        [] => return Ok(()),
    };
    check_script(call, &scripts)?;
    match &arguments.in_place {
        Some(in_place) => check_in_place(call, &arguments, in_place, files),
        None => Ok(()),
    }
}

/// Returns whether a script neither writes files nor runs commands.
pub(super) fn only_reads(script: &str) -> bool {
    let script = script::parse(script);
    let reads = |effect: &Effect| matches!(effect, Effect::Reads(_));
    script.problem.is_none() && script.effects.iter().all(reads)
}

fn read<'c, 's>(call: &Call<'c, '_, 's>) -> Result<Arguments<'c, 's>, Denial> {
    let mut arguments = Arguments::default();
    for parsed in SED.read(call).map_err(advise_on_values)? {
        match parsed {
            ParsedArg::Operand(operand) => arguments.operands.push(operand),
            ParsedArg::Option { name, value, arg } => match (name.as_str(), value) {
                ("-e" | "--expression", Some(script)) => {
                    // BSD sed reads the first operand as the script, whatever follows.
                    if arguments.operands.iter().any(|operand| !operand.is("")) {
                        return Err(call
                            .deny(Rule::R80, "an option follows a file")
                            .instead("write the options first: sed -e 's/old/new/' FILE"));
                    }
                    arguments.scripts.push(script);
                }
                ("-e" | "--expression", None) => {
                    return Err(call.deny_flag(Rule::R80, &name, arg.span));
                }
                ("-i", suffix) => {
                    let is_bare = suffix.is_none();
                    arguments.in_place = Some(InPlace { suffix, is_bare });
                }
                ("--in-place", suffix) => {
                    let is_bare = false;
                    arguments.in_place = Some(InPlace { suffix, is_bare });
                }
                _ => {}
            },
        }
    }
    Ok(arguments)
}

/// Replaces the advice about an argument that may become an option: `--` protects files, not
/// scripts.
fn advise_on_values(denial: Denial) -> Denial {
    match denial.rule.as_ref() {
        "R21" => denial.instead(
            "write the script literally; read a file that is a variable with sed -n '10,20p' -- \
             \"$f\", and change files with find src -name '*.ts' -exec sed -i 's/old/new/' {} +",
        ),
        _ => denial,
    }
}

/// Checks scripts, which sed joins with newlines.
fn check_script(call: &Call<'_, '_, '_>, scripts: &[Arg<'_>]) -> Checked {
    let Some((first, others)) = scripts.split_first() else {
        return Ok(());
    };
    let numbered = with_placeholders(call, first).filter(|_| others.is_empty());
    if numbered.as_deref().is_some_and(selects_lines) {
        return Ok(());
    }
    let mut wholes = match numbered.filter(|text| replaces_by_values(text)) {
        // The values are data: they contain no delimiter, no backslash and no line feed.
        Some(text) => vec![text.replace([NUMBER, VALUE, DIRECTORY], "0")],
        None => texts(first)?,
    };
    for script in others {
        // Whether the next script continues this line depends on the implementation.
        if wholes.iter().any(|whole| whole.ends_with('\\')) {
            return Err(not_understood(first, "a script ends with a backslash"));
        }
        let texts = texts(script)?;
        let joined = wholes
            .iter()
            .flat_map(|whole| texts.iter().map(move |text| format!("{whole}\n{text}")));
        wholes = joined.collect();
        if wholes.len() > MOST_VARIANTS {
            return Err(not_understood(first, "it has too many variables"));
        }
    }
    for whole in &wholes {
        let script = script::parse(whole);
        for effect in &script.effects {
            check_effect(call, first, effect)?;
        }
        if let Some(problem) = script.problem {
            return Err(not_understood(first, problem));
        }
    }
    Ok(())
}

/// Returns a script in double quotes with [`NUMBER`] or [`VALUE`] in place of each expansion; `None`
/// if the script has other expansions, or none.
fn with_placeholders(call: &Call<'_, '_, '_>, script: &Arg<'_>) -> Option<String> {
    use plain_values::Form::{Count, Number, NumberOrNothing};
    let [Part::DoubleQuoted(parts)] = &script.parts[..] else {
        return None;
    };
    let (scope, at) = (call.context.scope, script.span.start());
    let mut text = String::new();
    for part in parts {
        match part {
            Part::Literal(literal) | Part::Quoted(literal) => text.push_str(literal),
            _ => match plain_values::form(scope, part, at) {
                Some(Number | NumberOrNothing | Count) => text.push(NUMBER),
                _ if plain_values::is_plain_text(scope, part, at) => text.push(VALUE),
                _ if is_working_directory(call, part) => text.push(DIRECTORY),
                _ => return None,
            },
        }
    }
    text.contains([NUMBER, VALUE, DIRECTORY]).then_some(text)
}

/// Returns whether an expansion is the working directory, and its path has only plain characters.
fn is_working_directory(call: &Call<'_, '_, '_>, part: &Part<'_>) -> bool {
    let is_named = match part {
        Part::Parameter(parameter) => {
            parameter.name == "PWD"
                && parameter.operation == Operation::Value
                && call.context.scope.survey().variable("PWD").is_none()
        }
        Part::CommandSubstitution(inner) => {
            let mut all = commands(&inner.script);
            let words = all.next().and_then(SimpleCommand::static_words);
            words.is_some_and(|words| words == ["pwd"]) && all.next().is_none()
        }
        _ => false,
    };
    let is_plain = |path: &str| has_only(path, "/._-");
    is_named
        && call.directories.all_locations(".", is_plain)
        && call.policy().project_link().is_none_or(is_plain)
}

/// Returns whether a script is nothing but `p`, `d` or `q` for one line or a range, where a line may
/// be a number: `"${first},${last}p"`.
fn selects_lines(script: &str) -> bool {
    let Some(lines) = script.strip_suffix(['p', 'd', 'q']) else {
        return false;
    };
    let is_line = |line: &str| {
        let is_digits = is_digits(line);
        line == "$" || line.chars().eq([NUMBER]) || (is_digits && !line.is_empty())
    };
    lines.split(',').count() <= 2 && lines.split(',').all(is_line)
}

/// Returns whether a script is nothing but one `s` command with values in its replacement, or the
/// working directory: `"s/^date:.*/date: $(date +%F)/"`, `"s|$PWD/||"`.
fn replaces_by_values(script: &str) -> bool {
    let placeholders = [NUMBER, VALUE];
    let has_directory = script.contains(DIRECTORY);
    let Some(delimiter) = script.strip_prefix('s').and_then(|it| it.chars().next()) else {
        return false;
    };
    let mut fields = script[2..].split(delimiter);
    let (Some(pattern), Some(replacement), Some(flags), None) =
        (fields.next(), fields.next(), fields.next(), fields.next())
    else {
        return false;
    };
    // A backslash before a value, or before a delimiter, would change what they mean.
    let is_plain = !replacement.contains('\\') && !pattern.ends_with('\\');
    (matches!(delimiter, '|' | '#' | ',') || (delimiter == '/' && !has_directory))
        && is_plain
        && !script.contains('\n')
        && !pattern.contains(placeholders)
        && flags.bytes().all(|flag| b"gIip".contains(&flag))
}

/// Represents a number in a script. It cannot occur otherwise: R2 denies it in commands.
const NUMBER: char = '\u{1}';

/// Represents a date or a hash in a script, like [`NUMBER`].
const VALUE: char = '\u{2}';

/// Represents the working directory in a script, like [`NUMBER`].
const DIRECTORY: char = '\u{3}';

/// Maximum number of texts that several scripts with variables may produce together.
const MOST_VARIANTS: usize = 16;

/// Returns the possible texts of one script.
fn texts(script: &Arg<'_>) -> Result<Vec<String>, Denial> {
    program_texts(script).ok_or_else(|| {
        let reason = "the sed script is unknown until it runs";
        Denial::by(Rule::R80, script.span, reason)
            .instead("write the script literally, in single quotes: sed -n '10,20p' FILE")
    })
}

fn check_effect(call: &Call<'_, '_, '_>, script: &Arg<'_>, effect: &Effect) -> Checked {
    match effect {
        Effect::Executes => {
            let reason = "the sed script runs a command with e";
            Err(Denial::by(Rule::R80, script.span, reason)
                .instead("run the command itself, and pipe its output to sed"))
        }
        Effect::Writes(file) if matches!(file.as_str(), "/dev/stdout" | "/dev/stderr") => Ok(()),
        Effect::Writes(file) => {
            let reason = format!("the sed script writes to '{file}' with w");
            Err(
                Denial::by(Rule::R80, script.span, reason).instead(match call.mode() {
                    Mode::Run => "redirect the output of sed: sed -n '/x/p' FILE > OUT",
                    Mode::Sync => "print the lines with p; sync must not change files",
                }),
            )
        }
        Effect::Reads(file) => check_read(call, Rule::R80, file, script.span),
    }
}

/// Checks the effect of a script that is the path of a file in GNU sed. BSD sed has no `e`.
fn check_bsd_effect(call: &Call<'_, '_, '_>, script: &Arg<'_>, effect: &Effect) -> Checked {
    match effect {
        Effect::Executes => Ok(()),
        Effect::Writes(file) => {
            let file = Arg::plain(file.clone(), script.span);
            call.check_write_target(&file, Root::Refused)
        }
        Effect::Reads(file) => check_read(call, Rule::R80, file, script.span),
    }
}

fn not_understood(script: &Arg<'_>, problem: &str) -> Denial {
    let reason = format!("the sed script is not understood: {problem}");
    Denial::by(Rule::R80, script.span, reason)
        .instead("write one plain command for each -e, and each text of a, i and c on its own line")
}

fn check_in_place(
    call: &Call<'_, '_, '_>,
    arguments: &Arguments<'_, '_>,
    in_place: &InPlace<'_>,
    files: &[&Arg<'_>],
) -> Checked {
    if call.mode() == Mode::Sync {
        return Err(call
            .deny(
                Rule::R84,
                "sed -i changes files, and sync must not change files",
            )
            .rationale("in sync mode, no command changes a file in place")
            .instead("print the result without -i: sed 's/old/new/' FILE"));
    }
    let suffix = match &in_place.suffix {
        None => "",
        Some(suffix) => match suffix.known().filter(|suffix| is_plain_suffix(suffix)) {
            Some(suffix) => suffix,
            None => return Err(call.deny_flag(Rule::R84, &suffix.text, suffix.span)),
        },
    };
    let mut files = files;
    if in_place.is_bare && arguments.scripts.is_empty() {
        // BSD sed: the first operand is the suffix, the second one the script.
        if let [first, script, ..] = &arguments.operands[..] {
            if let Some(text) = script.known() {
                for effect in &script::parse(text).effects {
                    check_bsd_effect(call, script, effect)?;
                }
            }
            // `sed -i '' SCRIPT FILE` makes no change in GNU sed.
            if first.is("") {
                files = files.get(1..).unwrap_or_default();
            }
        }
    }
    for file in files.iter().filter(|file| !file.is("")) {
        check_file(call, file)?;
        // Unless it starts with a dot, a suffix can complete a protected name.
        if !suffix.is_empty() && !suffix.starts_with('.') {
            check_file(call, &with_suffix(file, suffix))?;
        }
    }
    Ok(())
}

fn check_file(call: &Call<'_, '_, '_>, file: &Arg<'_>) -> Checked {
    writers::check_target(call, file).map_err(|denial| match denial.rule.as_ref() {
        "R27" => denial.instead(
            "name the files or a pattern, such as src/*.ts; find works in a directory below the \
             project root: find src -name '*.ts' -exec sed -i 's/old/new/' {} +",
        ),
        _ => denial,
    })
}

/// Returns whether a backup with this suffix is in the folder of its file.
fn is_plain_suffix(suffix: &str) -> bool {
    has_only(suffix, "._~-")
}

fn with_suffix<'s>(file: &Arg<'s>, suffix: &str) -> Arg<'s> {
    Arg {
        text: format!("{}{suffix}", file.text).into(),
        parts: Cow::Borrowed(&[]),
        ..file.clone()
    }
}
