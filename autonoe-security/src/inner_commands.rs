//! Commands that a command starts, such as `npm test` in `env CI=1 npm test`.

use std::ops::Range;

use crate::option_table::OptionArity;
use crate::wrapper_options::{self, Wrapper};

/// The commands that a simple command starts, as far as its words show.
///
/// No policy is involved: the programs are those that start another one by convention, allowed or
/// not. A word is `None` if the shell expands it, so that its text is unknown.
///
/// ```
/// use autonoe_security::InnerCommands;
///
/// let words = ["timeout", "-k", "5", "60", "npm", "test"].map(Some);
/// assert_eq!(InnerCommands::read(&words).commands, [4..6]);
///
/// let words = ["bash", "-c", "npm test"].map(Some);
/// assert_eq!(InnerCommands::read(&words).scripts, [2..3]);
/// ```
#[derive(Clone, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct InnerCommands {
    /// Commands, each a range of the words.
    pub commands: Vec<Range<usize>>,
    /// Scripts, each a range of words whose text is joined by blanks.
    pub scripts: Vec<Range<usize>>,
    /// Whether it may start other commands or different ones: a script file, standard input, a
    /// command after an unknown option.
    pub is_uncertain: bool,
}

const SHELLS: [&str; 6] = ["sh", "bash", "dash", "zsh", "ksh", "ash"];

impl InnerCommands {
    /// Reads the name of a command and its arguments.
    pub fn read<T: AsRef<str>>(words: &[Option<T>]) -> Self {
        let words: Vec<Option<&str>> = words.iter().map(|it| it.as_ref().map(T::as_ref)).collect();
        let Some(Some(name)) = words.first() else {
            return Self::default();
        };
        let name = name.rsplit('/').next().unwrap_or(name);
        if let Some(wrapper) = wrapper_options::find(name) {
            return inner(wrapper, name, &words);
        }
        match name {
            "eval" => Self::script(after_dashes(&words, 1)..words.len()),
            "trap" => trap(&words),
            "find" => until_semicolon(&words, &["-exec", "-execdir", "-ok", "-okdir"]),
            "fd" | "fdfind" => fd(&words),
            _ if SHELLS.contains(&name) => shell(&words),
            _ => Self::default(),
        }
    }

    /// Returns whether the command starts nothing.
    pub fn is_empty(&self) -> bool {
        self.commands.is_empty() && self.scripts.is_empty() && !self.is_uncertain
    }

    fn script(range: Range<usize>) -> Self {
        if range.is_empty() {
            Self::default()
        } else {
            Self {
                scripts: vec![range],
                ..Self::default()
            }
        }
    }

    fn uncertain() -> Self {
        Self {
            is_uncertain: true,
            ..Self::default()
        }
    }
}

/// Returns the command that follows the options of a wrapper.
fn inner(wrapper: &Wrapper, name: &str, words: &[Option<&str>]) -> InnerCommands {
    let mut inner = InnerCommands::default();
    let mut at = 1;
    while let Some(word) = words.get(at) {
        let Some(word) = word else {
            // It may be an option, a value or the command.
            inner.is_uncertain = true;
            at += 1;
            continue;
        };
        let taken = match *word {
            "--" => {
                at += 1;
                break;
            }
            _ if name == "command" && is_question(word) => return InnerCommands::default(),
            "-" if name == "env" => Some(1),
            _ if wrapper.has_assignments && is_assignment(word) => Some(1),
            _ if !word.starts_with('-') || word.len() == 1 => break,
            _ => option(wrapper, word),
        };
        inner.is_uncertain |= taken.is_none();
        at += taken.unwrap_or(1);
    }
    let skipped = words.iter().skip(at).take(wrapper.operands);
    inner.is_uncertain |= skipped.clone().any(Option::is_none);
    at += wrapper.operands;
    while wrapper.has_assignments && matches!(words.get(at), Some(Some(it)) if is_assignment(it)) {
        at += 1;
    }
    if at < words.len() {
        inner.commands.push(at..words.len());
    }
    inner
}

/// Returns the number of words of a wrapper's option; `None` if the option is unknown.
fn option(wrapper: &Wrapper, word: &str) -> Option<usize> {
    let options = &wrapper.options;
    if let Some(long) = word.strip_prefix("--") {
        let (name, value) = match long.split_once('=') {
            Some((name, value)) => (name, Some(value)),
            None => (long, None),
        };
        let mut fitting = options.long.iter().filter(|(it, _)| it.starts_with(name));
        let (Some((_, takes)), None) = (fitting.next(), fitting.next()) else {
            return None;
        };
        let takes_next = *takes == OptionArity::Value && value.is_none();
        return Some(if takes_next { 2 } else { 1 });
    }
    let letters = &word[1..];
    for (at, letter) in letters.char_indices() {
        match options.letter(letter)? {
            OptionArity::Value => {
                let is_attached = at + letter.len_utf8() < letters.len();
                return Some(if is_attached { 1 } else { 2 });
            }
            // `xargs -i{}`: the value follows.
            OptionArity::Attached => return Some(1),
            OptionArity::Nothing | OptionArity::Unknown => {}
        }
    }
    Some(1)
}

/// Returns whether `command` only looks a name up: `-v`, `-V`.
fn is_question(word: &str) -> bool {
    word.starts_with('-') && word.contains(['v', 'V'])
}

fn is_assignment(word: &str) -> bool {
    let is_name = |name: &str| {
        name.starts_with(|c: char| c.is_ascii_alphabetic() || c == '_')
            && name
                .bytes()
                .all(|it| it.is_ascii_alphanumeric() || it == b'_')
    };
    word.split_once('=').is_some_and(|(name, _)| is_name(name))
}

fn after_dashes(words: &[Option<&str>], at: usize) -> usize {
    match words.get(at) {
        Some(Some("--")) => at + 1,
        _ => at,
    }
}

/// Reads `trap 'script' SIGNAL`.
fn trap(words: &[Option<&str>]) -> InnerCommands {
    let at = after_dashes(words, 1);
    match words.get(at) {
        Some(Some(action)) if action.starts_with('-') || words.len() == at + 1 => {
            InnerCommands::default()
        }
        Some(_) => InnerCommands::script(at..at + 1),
        None => InnerCommands::default(),
    }
}

/// Reads the commands after `starters`, each up to `;`, to `{} +` or to the end.
fn until_semicolon(words: &[Option<&str>], starters: &[&str]) -> InnerCommands {
    let mut inner = InnerCommands::default();
    let mut at = 1;
    while at < words.len() {
        if !words[at].is_some_and(|word| starters.contains(&word)) {
            at += 1;
            continue;
        }
        let start = at + 1;
        let ends = |at: usize| {
            let is_plus = words[at] == Some("+") && words[at - 1] == Some("{}");
            words[at] == Some(";") || is_plus
        };
        let end = (start..words.len()).find(|at| ends(*at));
        let end = end.unwrap_or(words.len());
        if start < end {
            inner.commands.push(start..end);
        }
        at = end.max(start);
    }
    inner
}

/// Reads the command after `-x` of `fd`, which may also be in a cluster of letters.
fn fd(words: &[Option<&str>]) -> InnerCommands {
    const STARTERS: &[&str] = words!("-x -X --exec --exec-batch");
    let mut inner = until_semicolon(words, STARTERS);
    let is_attached = |word: &&str| match word.strip_prefix("--") {
        Some(long) => long.starts_with("exec") && long.contains('='),
        None => {
            let letters = word.strip_prefix('-').unwrap_or_default();
            // The text after these letters is their value.
            let end = letters.find(|letter| "cdeEjoSt".contains(letter));
            letters[..end.unwrap_or(letters.len())].contains(['x', 'X'])
        }
    };
    let mut others = words
        .iter()
        .flatten()
        .filter(|word| !STARTERS.contains(word));
    inner.is_uncertain |= others.any(is_attached);
    inner
}

/// Reads the options of a shell, and the text after `-c`.
fn shell(words: &[Option<&str>]) -> InnerCommands {
    let mut at = 1;
    let mut takes_text = false;
    while let Some(word) = words.get(at) {
        let Some(word) = word else {
            return InnerCommands::uncertain();
        };
        match *word {
            "--" => {
                at += 1;
                break;
            }
            "--rcfile" | "--init-file" => at += 2,
            _ if word.starts_with("--") => at += 1,
            _ if word.starts_with(['-', '+']) && word.len() > 1 => {
                takes_text |= word.starts_with('-') && word.contains('c');
                // `-o pipefail`, `-O extglob`: each takes a name.
                at += 1 + word.matches(['o', 'O']).count();
            }
            _ => break,
        }
    }
    match words.get(at) {
        Some(Some(_)) if takes_text => InnerCommands::script(at..at + 1),
        // A script file, standard input, or an unknown text.
        _ => InnerCommands::uncertain(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Renders the commands that `text`, words separated by blanks, starts; `?` is an unknown word.
    fn started(text: &str) -> Vec<String> {
        let words: Vec<Option<&str>> = text
            .split(' ')
            .map(|word| (word != "?").then_some(word))
            .collect();
        let inner = InnerCommands::read(&words);
        let written = |range: &Range<usize>| {
            let words = words[range.clone()].iter();
            let words: Vec<&str> = words.map(|word| word.unwrap_or("?")).collect();
            words.join(" ")
        };
        let commands = inner.commands.iter().map(written);
        let scripts = inner
            .scripts
            .iter()
            .map(|range| format!("script {}", written(range)));
        let uncertain = inner.is_uncertain.then(|| "uncertain".to_owned());
        commands.chain(scripts).chain(uncertain).collect()
    }

    #[test]
    fn the_command_behind_a_wrapper_is_found() {
        for (text, inner) in [
            ("nohup npm test", "npm test"),
            ("/usr/bin/nohup npm test", "npm test"),
            ("env", ""),
            ("env A=1 -i -u B C=2 npm test", "npm test"),
            ("env --unset=A --chdir d x y", "x y"),
            ("env - A=1 x", "x"),
            ("xargs rm", "rm"),
            ("xargs -0 -n1 -I {} rm {}", "rm {}"),
            ("xargs -i{} rm {}", "rm {}"),
            ("xargs --max-args 1 --null rm -f", "rm -f"),
            ("timeout 5 x y", "x y"),
            ("timeout -s KILL --kill-after=1 5 x", "x"),
            ("timeout", ""),
            ("nice -n 5 x", "x"),
            ("nice -10 x", "x"),
            ("time -p x", "x"),
            ("stdbuf -oL -e 0 x", "x"),
            ("sudo -u me A=b x y", "x y"),
            ("sudo -nE -- x", "x"),
            ("doas -u me x", "x"),
            ("command -p x y", "x y"),
            ("command -v x", ""),
            ("exec -a n x", "x"),
            ("busybox rm -r x", "rm -r x"),
            ("setsid -w x", "x"),
        ] {
            assert_eq!(started(text).join(", "), inner, "{text}");
        }
    }

    #[test]
    fn scripts_and_the_commands_of_find_are_found() {
        for (text, inner) in [
            ("bash -c text a b", "script text"),
            ("sh -euxc text", "script text"),
            ("bash --norc -o pipefail -c text", "script text"),
            ("bash -eo pipefail -c text", "script text"),
            ("eval a b", "script a b"),
            ("eval -- a", "script a"),
            ("trap text EXIT", "script text"),
            ("trap - EXIT", ""),
            ("trap", ""),
            ("find . -name x", ""),
            ("find . -exec rm {} ;", "rm {}"),
            (
                "find . -exec rm {} + -o -ok mv {} y ; -print",
                "rm {}, mv {} y",
            ),
            ("fd x -x rm", "rm"),
            ("fd -X rm -f ; y", "rm -f"),
            ("find . -exec", ""),
        ] {
            assert_eq!(started(text).join(", "), inner, "{text}");
        }
    }

    #[test]
    fn undeterminable_inner_commands_are_uncertain() {
        for text in [
            "bash",
            "bash script.sh",
            "bash -s",
            "bash ? text",
            "bash -c ?",
            "env ? x",
            "env -S text",
            "xargs --unknown x",
            "sudo -e file",
            "sudo -s",
            "timeout ? x",
            "ionice -p 7",
        ] {
            assert!(started(text).contains(&"uncertain".to_owned()), "{text}");
        }
    }

    #[test]
    fn other_commands_start_nothing() {
        for text in ["", "echo env x", "git push", "? -c x", "grep -exec rm"] {
            assert_eq!(started(text).len(), 0, "{text}");
        }
    }
}
