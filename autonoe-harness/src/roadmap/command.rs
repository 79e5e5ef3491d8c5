//! Commands in backquotes.

/// What a shell would do something with, and nobody does it here.
const FOR_A_SHELL: [char; 11] = ['|', '&', ';', '<', '>', '(', ')', '$', '*', '?', '~'];

/// Cuts a command into its words as a shell would, and refuses what only a shell can do.
pub(super) fn words_of(command: &str) -> Result<Vec<String>, String> {
    if let Some(mark) = first_for_a_shell(command) {
        return Err(format!(
            "no shell runs the command, so that {mark:?} has no meaning: quote it, or put the \
             command into a script"
        ));
    }
    let words = shlex::split(command).ok_or("a quote of the command is not closed")?;
    match words.is_empty() {
        true => Err("there is no command".to_owned()),
        false => Ok(words),
    }
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
            ("  ", "no command"),
        ] {
            let said = words_of(command).expect_err(command);
            assert!(said.contains(why), "{command}: {said}");
        }
    }
}
