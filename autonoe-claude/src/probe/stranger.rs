//! What is said of a program that does not look like Claude Code.

use std::path::Path;

use autonoe_core::{AgentError, AgentErrorKind};
use autonoe_process::LaunchError;

use super::ask::{Answer, End};
use crate::outcome::{Exit, harmless, last_words};

const REMEDY: &str = "install Claude Code (npm install -g @anthropic-ai/claude-code), or name \
    its program in the \"program\" of the backend";

/// The most of an answer that is worth repeating.
const LONGEST: usize = 200;

/// What a program did that Claude Code would not do.
pub(crate) enum Manner<'a> {
    /// It could not be started.
    Unstartable(&'a LaunchError),
    /// It gave another answer when it was asked for its version.
    Version(&'a Answer),
    /// It ended without a word of the protocol.
    Ended { exit: Exit, stderr: &'a str },
    /// It wrote a lot, and nothing of the protocol.
    Nonsense { stderr: &'a str },
}

/// Says that `program` does not look like Claude Code: what was run, what came of it, and what
/// to do about it.
pub(crate) fn stranger(program: &Path, manner: &Manner<'_>) -> AgentError {
    let (did, stderr) = match manner {
        Manner::Unstartable(error) => (format!("it cannot be started: {error}"), ""),
        Manner::Version(answer) => (version(answer), answer.stderr.as_str()),
        Manner::Ended { exit, stderr } => {
            let did = format!("started for a session, it {exit} without a word of the protocol");
            (did, *stderr)
        }
        Manner::Nonsense { stderr } => {
            let did = "started for a session, it wrote much, and not a word of the protocol";
            (did.to_owned(), *stderr)
        }
    };
    let mut message = format!("{program:?} does not look like Claude Code: {did}");
    if let Some(words) = last_words(stderr) {
        message = format!("{message}; its standard error ended with: {words}");
    }
    let kind = match manner {
        // The real one may have been ended in peace by somebody; another try tells.
        Manner::Ended { .. } => AgentErrorKind::Crashed,
        _ => AgentErrorKind::NotAvailable,
    };
    AgentError::new(kind, message).with_remedy(REMEDY)
}

fn version(answer: &Answer) -> String {
    let said = match answer.said.as_str() {
        "" => "said nothing".to_owned(),
        said => format!("said \"{}\"", shortened(said)),
    };
    let end = match answer.end {
        End::Exited(exit) => exit.to_string(),
        End::TookTooLong => "did not end in time".to_owned(),
        End::WroteTooMuch => "did not stop to write".to_owned(),
    };
    format!("run with --version, it {said} for its version and {end}")
}

fn shortened(said: &str) -> String {
    let line = said.lines().next().unwrap_or_default();
    let cut = match line.char_indices().nth(LONGEST) {
        Some((end, _)) => &line[..end],
        None => line,
    };
    let more = if cut.len() < said.len() { "…" } else { "" };
    format!("{}{more}", harmless(cut))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn told(said: &str, stderr: &str, end: End) -> String {
        let answer = Answer {
            said: said.to_owned(),
            stderr: stderr.to_owned(),
            end,
        };
        let error = stranger(Path::new("/bin/it"), &Manner::Version(&answer));
        assert_eq!(error.kind(), AgentErrorKind::NotAvailable);
        let remedy = error.remedy().expect("there is one");
        assert!(remedy.contains("npm install"), "{remedy}");
        error.to_string()
    }

    #[test]
    fn what_was_run_and_what_came_of_it_is_told() {
        let code = |code| End::Exited(Exit::Code(code));
        let much = "y\n".repeat(10_000);
        for (said, stderr, end, expected) in [
            (
                "",
                "",
                code(1),
                "said nothing for its version and exited with code 1",
            ),
            (
                "",
                "boom\n",
                code(3),
                "said nothing for its version and exited with code 3; its standard error ended with: boom",
            ),
            (
                "cat (GNU coreutils) 9.1\nCopyright",
                "",
                code(0),
                "said \"cat (GNU coreutils) 9.1…\" for its version and exited with code 0",
            ),
            (
                &much,
                "",
                End::WroteTooMuch,
                "said \"y…\" for its version and did not stop to write",
            ),
            (
                "\u{1b}[2J\u{202e}x",
                "\u{7}\u{1b}]0;owned\u{7}",
                End::TookTooLong,
                "said \" [2J\u{fffd}x\" for its version and did not end in time; its standard error ended with: ]0;owned",
            ),
        ] {
            let whole = format!(
                "\"/bin/it\" does not look like Claude Code: run with --version, it {expected}"
            );
            assert_eq!(told(said, stderr, end), whole);
        }
    }

    #[test]
    fn it_stays_short() {
        let told = told(&"ü".repeat(9000), &"é".repeat(70_000), End::WroteTooMuch);

        assert!(told.chars().count() < 1200, "{}", told.chars().count());
    }

    #[test]
    fn a_session_without_a_word_of_the_protocol_is_told_with_its_end() {
        let error = stranger(
            Path::new("/bin/it"),
            &Manner::Ended {
                exit: Exit::Code(0),
                stderr: "usage: it",
            },
        );

        assert_eq!(
            error.to_string(),
            "\"/bin/it\" does not look like Claude Code: started for a session, it exited with code 0 \
             without a word of the protocol; its standard error ended with: usage: it"
        );
    }
}
