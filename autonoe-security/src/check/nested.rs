//! Scripts passed to a shell as text.

use super::call::{Call, Checked};
use super::directories::Directories;
use super::judge_text;
use super::scope::Inherited;
use crate::syntax::Span;

/// Judges `text` as a complete Bash script; denials point to `span`.
///
/// All variables that the outer script sets may be in its environment.
pub(crate) fn check(call: &Call<'_, '_, '_>, text: &str, span: Span) -> Checked {
    let set_outside = call.context.scope.survey().names().map(str::to_owned);
    let inherited = Inherited {
        unknown: set_outside
            .chain(call.wrapper_variables.iter().cloned())
            .collect(),
        children: Vec::new(),
        is_nested: true,
    };
    check_in(call, text, span, call.directories.clone(), inherited)
}

/// Judges `text` as a script that runs in `here`.
pub(crate) fn check_in(
    call: &Call<'_, '_, '_>,
    text: &str,
    span: Span,
    here: Directories<'_>,
    inherited: Inherited,
) -> Checked {
    let (policy, links) = (call.policy(), call.context.links);
    judge_text(policy, links, text, here, call.depth + 1, inherited)
        .map_err(|denial| denial.at(span.range()))
}

/// Returns whether every shell reads `text` like Bash.
///
/// Words, quotes, `$NAME`, lists, pipelines and plain redirections are the same in all shells.
/// Anything else may have another meaning: `[[ a > b ]]` writes a file in `sh`, `$'..'` ends
/// elsewhere, and in zsh `>! file` is another file, `$f:h` a part of a value and `=ls` a program.
pub(crate) fn is_same_in_every_shell(text: &str) -> bool {
    let mut quote = None;
    let mut before = ' ';
    let mut in_variable = false;
    let mut rest = text.chars().peekable();
    while let Some(c) = rest.next() {
        let next = rest.peek().copied().unwrap_or(' ');
        let is_part = c.is_ascii_alphanumeric() || c == '_';
        let was_variable = in_variable;
        in_variable = quote != Some('\'') && (c == '$' || (was_variable && is_part));
        let is_plain = match (quote, c) {
            (Some('\''), _) => true,
            (_, ':') if was_variable => !next.is_ascii_alphabetic() && next != '&',
            (None, '=') => before.is_ascii_alphanumeric() || before == '_' || next == ' ',
            // Shells split `$1` differently, and read `$12` differently.
            (Some('"'), '$') if next.is_ascii_digit() => !rest
                .clone()
                .nth(1)
                .is_some_and(|c| c.is_ascii_alphanumeric()),
            (_, '$') => next == '?' || next == '_' || next.is_ascii_alphabetic(),
            (Some(_), _) => !matches!(c, '\\' | '`' | '!'),
            (None, ' ' | '\t' | '\n' | '\'' | '"' | '*') => true,
            (None, '[') => before.is_ascii_whitespace() && next == ' ',
            (None, ']') => before.is_ascii_whitespace(),
            (None, '!') => next == ' ' && before.is_ascii_whitespace(),
            (None, ';') => !matches!(next, ';' | '&' | '|'),
            (None, '|') => next != '&' && (before != '|' || next != '|'),
            (None, '&') => match before {
                '>' => next.is_ascii_digit(),
                _ => !matches!(next, '>' | '|' | '!'),
            },
            (None, '>') => next != '|' && next != '!' && next != '(',
            (None, '<') => next == ' ' || next.is_ascii_alphanumeric() || "./".contains(next),
            (None, c) => c.is_ascii_alphanumeric() || "_./:,=@%+-".contains(c),
        };
        if !is_plain {
            return false;
        }
        match quote {
            Some(open) if open == c => quote = None,
            None if c == '\'' || c == '"' => quote = Some(c),
            _ => {}
        }
        before = c;
    }
    true
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn words_lists_and_plain_redirections_are_alike_everywhere() {
        for text in [
            "npm test && git status",
            "cd web && npm test > /tmp/x 2>&1 || echo 'it failed; see $x'",
            "if [ -f a ]; then cat a | head -5; fi",
            "for f in *.js; do node --check \"$f\"; done",
            "ls -la",
            "head -3 \"$1\" \"$2: $3\"",
            "echo \"$?\" '$(x) `y`' \"it's\"",
            "x=1; [ $x = 1 ] && echo \"$x: $y:$z\" '$x:h'",
            "! grep -q x y",
        ] {
            assert!(is_same_in_every_shell(text), "{text}");
        }
    }

    #[test]
    fn shell_dependent_syntax_is_reported() {
        for text in [
            "[[ a > /etc/motd ]]",
            ": $'\\'; rm -rf x #'",
            "echo x >! /etc/motd",
            "echo x &> y",
            "ls |& cat",
            "cat <(ls)",
            "(( x = 1 ))",
            "x=(a b)",
            "echo {a,b}",
            "echo ${x}",
            "echo $(ls)",
            "echo $x[1]",
            "ls *(.)",
            "ls &! cat",
            "cat << E",
            "'a' [[ b ]]",
            "\"a\" (b)",
            "echo 'a' \"b\" {c}",
            "echo \"a`b`\"",
            "echo \"a!b\"",
            "echo \"a\\b\"",
            "echo $1",
            "echo \"$12\"",
            "echo \"$1a\"",
            "cat \"$1:h\"",
            "echo \"$(x)\"",
            "a;;b",
            "a ;& b",
            "!x",
            "a!",
            "[a]",
            "[ a]",
            "cat $f:h",
            "cat \"$f_1:t\"",
            "cat $f:&",
            "echo x > =ls",
            "x=a:=ls",
        ] {
            assert!(!is_same_in_every_shell(text), "{text}");
        }
    }
}
