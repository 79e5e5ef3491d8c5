//! `yq`: YAML by expressions that neither load files nor print the environment.
//!
//! Two programs have this name, the one in Go and the wrapper of jq in Python. An option or a word of
//! an expression counts by both of them.

use super::strict_options::{Item, StrictOptions, Value, nothing_special};
use super::{names_secret, writers};
use crate::check::arg::Arg;
use crate::check::call::{Call, Checked};
use crate::check::text::has_only;
use crate::{Denial, Rule};

/// Missing are options that write further files or read an expression from a file (`-s`, `-f`), and
/// folders of modules (`-L`).
const OPTIONS: StrictOptions = StrictOptions {
    rule: Rule::R83,
    instead: "use yq EXPRESSION FILE, or yq -i EXPRESSION FILE",
    groups: &[
        (
            words!(
                "-C -M -N -P -Pi -S -V -Y -c -e -er -i -iP -iy -j -n -nr -r -rN -rc -re -ry -y -yi -yr",
                "--colors --compact-output --exit-status --in-place --inplace --no-colors --no-doc",
                "--null-input --prettyPrint --raw-output --sort-keys --tojson --unwrapScalar --version",
                "--yaml-output --yaml-roundtrip",
            ),
            Value::Nothing,
        ),
        (
            words!("-I= -I: -o= -o: -p= -p: --indent= --input-format= --output-format="),
            Value::Text,
        ),
    ],
};

/// Options with which files are changed.
const IN_PLACE: &[&str] = words!("-Pi -i -iP -iy -yi --in-place --inplace");

/// Subcommands in front of the expression.
const EVALUATING: &[&str] = words!("e ea eval eval-all");

/// Beginnings of words of expressions that read files, variables or further expressions, or start
/// programs.
const REACHING: &[&str] =
    words!("ENV env eval get_search_list import include load modulemeta strenv system");

pub(super) fn check(call: &Call<'_, '_, '_>) -> Checked {
    let mut operands = Vec::new();
    let mut changes = false;
    for item in OPTIONS.read(call, call.args, nothing_special)? {
        match item {
            Item::Option { name, .. } => changes |= IN_PLACE.contains(&name),
            Item::Operand(operand) => operands.push(operand),
        }
    }
    let is_subcommand = |arg: &Arg<'_>| arg.known().is_some_and(|word| EVALUATING.contains(&word));
    let first = usize::from(operands.first().is_some_and(|arg| is_subcommand(arg)));
    let (expressions, files) = operands.split_at(operands.len().min(first + 1));
    for expression in expressions {
        if !expression.known().is_some_and(stays_in_document) && !is_subcommand(expression) {
            let reason = "the expression may read other files or the environment";
            return Err(Denial::by(Rule::R83, expression.span, reason).instead(
                "write it literally, without load, env and eval; pass a value of the text with \
                 strenv(NAME)",
            ));
        }
    }
    if !changes {
        return Ok(());
    }
    // Without an expression, the operand is the file.
    let files = if files.is_empty() { expressions } else { files };
    files
        .iter()
        .try_for_each(|file| writers::check_target(call, file))
}

/// Returns whether an expression only reads and changes the documents.
fn stays_in_document(expression: &str) -> bool {
    let is_part = |c: char| c.is_alphanumeric() || c == '_';
    let mut at = 0;
    while let Some(start) = expression[at..].find(is_part).map(|found| at + found) {
        let rest = &expression[start..];
        let word = &rest[..rest.find(|c| !is_part(c)).unwrap_or(rest.len())];
        at = start + word.len();
        let before = &expression[..start];
        // `.env` is a key.
        let is_key = before.ends_with('.') && !before.ends_with("..");
        let reaches = REACHING.iter().any(|begin| word.starts_with(begin));
        if reaches && !is_key && !is_variable(word, &expression[at..]) {
            return false;
        }
    }
    true
}

/// Returns whether `word` reads one variable that is no secret: `strenv(NAME)`.
fn is_variable(word: &str, rest: &str) -> bool {
    let name = rest.strip_prefix('(').and_then(|rest| rest.split_once(')'));
    let is_plain = |name: &str| !name.is_empty() && has_only(name, "_");
    matches!(word, "env" | "strenv")
        && name.is_some_and(|(name, _)| is_plain(name) && !names_secret(name))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_expression_stays_in_its_documents() {
        for expression in [
            ".a.b | keys",
            ".env.NODE_ENV",
            ".a = strenv(VERSION)",
            ".jobs.test.strategy.matrix.node = [18, 20]",
            "select(.environment == \"x\") | .name",
            "",
        ] {
            assert!(stays_in_document(expression), "{expression}");
        }
        for expression in [
            "load(\"/etc/passwd\")",
            "load_str(.file)",
            ". * load(\"x\")",
            "env",
            "$ENV",
            "strenv(GITHUB_TOKEN)",
            "\"\\(env)\"",
            "eval(.x)",
            "system(\"id\")",
            "include \"m\"; .",
            "..env",
        ] {
            assert!(!stays_in_document(expression), "{expression}");
        }
    }
}
