//! Parses commands in backquotes.

/// Characters that only have a meaning in a shell, which is not used here.
const SHELL_CHARS: [char; 11] = ['|', '&', ';', '<', '>', '(', ')', '$', '*', '?', '~'];

/// Words that only a shell understands: no program has such a name.
const SHELL_WORDS: [&str; 32] = [
    "!", ".", "[[", "{", "}", "alias", "case", "cd", "do", "done", "elif", "else", "esac", "eval",
    "exec", "exit", "export", "fi", "for", "function", "if", "local", "return", "select", "set",
    "shopt", "source", "then", "trap", "unset", "until", "while",
];

/// Splits a command into words like a shell, and refuses syntax that needs one.
pub(super) fn split_command(command: &str) -> Result<Vec<String>, String> {
    if let Some(mark) = find_shell_char(command) {
        return Err(format!(
            "the command does not run in a shell, so {mark:?} has no effect: quote it, or put \
             the command into a script"
        ));
    }
    let words = shlex::split(command).ok_or("the command has an unclosed quote")?;
    let Some(program) = words.first() else {
        return Err("the command is empty".to_owned());
    };
    if SHELL_WORDS.contains(&program.as_str()) {
        return Err(format!(
            "the command does not run in a shell, and {program:?} is not a program: put the \
             command into a script, or write `sh -c '..'`"
        ));
    }
    if sets_a_variable(program) {
        return Err(format!(
            "the command does not run in a shell, so {program:?} sets no variable: write `env \
             {program} ..`"
        ));
    }
    Ok(words)
}

fn sets_a_variable(word: &str) -> bool {
    let is_letter = |c: char| c.is_ascii_alphanumeric() || c == '_';
    let name = word.split_once('=').map(|(name, _)| name);
    name.is_some_and(|name| !name.is_empty() && name.chars().all(is_letter))
}

fn find_shell_char(command: &str) -> Option<char> {
    let mut quote = None;
    let mut chars = command.chars();
    while let Some(c) = chars.next() {
        match (quote, c) {
            (Some('\''), '\'') | (Some('"'), '"') => quote = None,
            (Some('\''), _) => {}
            (_, '\\') => {
                chars.next();
            }
            (Some(_), '$') => return Some('$'),
            (Some(_), _) => {}
            (None, '\'' | '"') => quote = Some(c),
            (None, c) if SHELL_CHARS.contains(&c) => return Some(c),
            (None, _) => {}
        }
    }
    None
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_command_is_cut_into_its_words() {
        for (command, words) in [
            ("cargo test parser", vec!["cargo", "test", "parser"]),
            ("grep \"a b\" x", vec!["grep", "a b", "x"]),
            (
                "sh -c 'make && make test'",
                vec!["sh", "-c", "make && make test"],
            ),
            ("echo a\\&b", vec!["echo", "a&b"]),
            ("printf '$HOME'", vec!["printf", "$HOME"]),
        ] {
            assert_eq!(split_command(command).expect(command), words);
        }
    }

    #[test]
    fn shell_syntax_is_refused() {
        for (command, why) in [
            ("cargo fmt --check && cargo test", "'&'"),
            ("cat log | grep ok", "'|'"),
            ("make; make test", "';'"),
            ("make > log", "'>'"),
            ("test -f $OUT", "'$'"),
            ("test -f \"$OUT\"", "'$'"),
            ("ls *.rs", "'*'"),
            ("grep \"a b", "unclosed quote"),
            ("if true", "\"if\" is not a program"),
            ("cd sub", "\"cd\" is not a program"),
            ("! grep -q TODO a.txt", "\"!\" is not a program"),
            ("CI=1 cargo test", "env CI=1"),
            ("  ", "the command is empty"),
        ] {
            let error = split_command(command).expect_err(command);
            assert!(error.contains(why), "{command}: {error}");
        }
    }
}
