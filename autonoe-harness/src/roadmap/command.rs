//! Commands in backquotes.

/// What a shell would do something with, and nobody does it here.
const FOR_A_SHELL: [char; 11] = ['|', '&', ';', '<', '>', '(', ')', '$', '*', '?', '~'];

/// What a command begins with that only a shell knows: no program has such a name.
const OF_A_SHELL: [&str; 32] = [
    "!", ".", "[[", "{", "}", "alias", "case", "cd", "do", "done", "elif", "else", "esac", "eval",
    "exec", "exit", "export", "fi", "for", "function", "if", "local", "return", "select", "set",
    "shopt", "source", "then", "trap", "unset", "until", "while",
];

/// Cuts a command into its words as a shell would, and refuses what only a shell can do.
pub(super) fn words_of(command: &str) -> Result<Vec<String>, String> {
    if let Some(mark) = first_for_a_shell(command) {
        return Err(format!(
            "no shell runs the command, so that {mark:?} has no meaning: quote it, or put the \
             command into a script"
        ));
    }
    let words = shlex::split(command).ok_or("a quote of the command is not closed")?;
    let Some(program) = words.first() else {
        return Err("there is no command".to_owned());
    };
    if OF_A_SHELL.contains(&program.as_str()) {
        return Err(format!(
            "no shell runs the command, and {program:?} is no program: put the command into a \
             script, or write `sh -c '..'`"
        ));
    }
    if sets_a_variable(program) {
        return Err(format!(
            "no shell runs the command, so that {program:?} sets nothing: write `env {program} ..`"
        ));
    }
    Ok(words)
}

fn sets_a_variable(word: &str) -> bool {
    let is_letter = |c: char| c.is_ascii_alphanumeric() || c == '_';
    let name = word.split_once('=').map(|(name, _)| name);
    name.is_some_and(|name| !name.is_empty() && name.chars().all(is_letter))
}

fn first_for_a_shell(command: &str) -> Option<char> {
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
            (None, c) if FOR_A_SHELL.contains(&c) => return Some(c),
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
            assert_eq!(words_of(command).expect(command), words);
        }
    }

    #[test]
    fn what_only_a_shell_can_do_is_refused() {
        for (command, why) in [
            ("cargo fmt --check && cargo test", "'&'"),
            ("cat log | grep ok", "'|'"),
            ("make; make test", "';'"),
            ("make > log", "'>'"),
            ("test -f $OUT", "'$'"),
            ("test -f \"$OUT\"", "'$'"),
            ("ls *.rs", "'*'"),
            ("grep \"a b", "not closed"),
            ("if true", "\"if\" is no program"),
            ("cd sub", "\"cd\" is no program"),
            ("! grep -q TODO a.txt", "\"!\" is no program"),
            ("CI=1 cargo test", "env CI=1"),
            ("  ", "no command"),
        ] {
            let said = words_of(command).expect_err(command);
            assert!(said.contains(why), "{command}: {said}");
        }
    }
}
