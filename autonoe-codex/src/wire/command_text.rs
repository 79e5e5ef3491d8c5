//! The script in a command that the program shows as one text.

/// Where a shell that can be trusted to be Bash is.
///
/// Who reads a script must read it as the shell does. Others read it in other ways: what is a
/// harmless word of Bash, such as `$'a\'; touch x; #'`, is a second command for `sh`.
const BASH: &[&str] = &["/bin/bash", "/usr/bin/bash", "/usr/local/bin/bash"];

/// Returns the script that Bash is given, from a command such as `/bin/bash -lc 'ls -a'`.
///
/// `None` for anything that is not Bash with one script: then the whole text is the command.
///
/// ```
/// use autonoe_codex::wire::script_of;
///
/// assert_eq!(script_of("/bin/bash -lc 'ls -a'").as_deref(), Some("ls -a"));
/// // Another shell may read the same script in another way.
/// assert_eq!(script_of("/bin/sh -c 'ls -a'"), None);
/// ```
pub fn script_of(command: &str) -> Option<String> {
    let words = shlex::split(command)?;
    let [shell, flags, script] = words.as_slice() else {
        return None;
    };
    let is_bash = BASH.contains(&shell.as_str()) && ["-c", "-lc"].contains(&flags.as_str());
    is_bash.then(|| script.clone())
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn the_script_is_what_the_shell_is_given() {
        for (command, script) in [
            ("/bin/bash -lc 'touch a; cat'", Some("touch a; cat")),
            (
                r#"/bin/bash -lc "echo it's \"me\"; exit 3""#,
                Some(r#"echo it's "me"; exit 3"#),
            ),
            ("/usr/bin/bash -c ls", Some("ls")),
            ("/bin/sh -c ls", None),
            ("/usr/bin/zsh -lc ls", None),
            ("bash -lc ls", None),
            ("/srv/project/bash -lc ls", None),
            ("/bin/bash -lc", None),
            ("/bin/bash -lc ls more", None),
            ("/bin/bash -x ls", None),
            ("env bash -lc ls", None),
            ("/bin/bash -lc 'not closed", None),
            ("", None),
        ] {
            assert_eq!(script_of(command).as_deref(), script, "{command}");
        }
    }

    proptest! {
        #[test]
        fn every_script_comes_back_as_it_was(script in "[^\0]*") {
            let shown = shlex::try_join(["/bin/bash", "-lc", script.as_str()]);

            let shown = shown.expect("there is no NUL");

            prop_assert_eq!(script_of(&shown), Some(script));
        }
    }
}
