//! Error of a program that does not look like Claude Code.

use std::path::Path;

use autonoe_backend::{AnswerEnd, ShortAnswer};
use autonoe_core::agent::AgentErrorKind;
use autonoe_core::{AgentError, sanitize};
use autonoe_process::{Exit, LaunchError};

use crate::outcome::stderr_excerpt;

const REMEDY: &str = "install Claude Code (npm install -g @anthropic-ai/claude-code), or set \
    `program` of the backend to its path";

/// Maximum number of characters of a quoted answer.
const LONGEST: usize = 200;

/// Behaviour that differs from Claude Code.
pub(crate) enum Mismatch<'a> {
    /// It could not be started.
    CannotStart(&'a LaunchError),
    /// It printed something else than a version of Claude Code.
    Version(&'a ShortAnswer),
    /// It exited without a message of the protocol.
    Ended { exit: Exit, stderr: &'a str },
    /// It wrote much output, and none of it in the protocol.
    NotTheProtocol { stderr: &'a str },
}

/// Returns the error of a `program` that does not look like Claude Code: its behaviour, the end of
/// its standard error, and a remedy.
pub(crate) fn not_claude_error(program: &Path, mismatch: &Mismatch<'_>) -> AgentError {
    let (behaviour, stderr) = match mismatch {
        Mismatch::CannotStart(error) => (format!("it cannot be started: {error}"), ""),
        Mismatch::Version(answer) => (version(answer), answer.stderr.as_str()),
        Mismatch::Ended { exit, stderr } => {
            let behaviour =
                format!("started for a session, it {exit} without a message of the protocol");
            (behaviour, *stderr)
        }
        Mismatch::NotTheProtocol { stderr } => {
            let behaviour =
                "started for a session, it wrote output, but no message of the protocol";
            (behaviour.to_owned(), *stderr)
        }
    };
    let mut message = format!("{program:?} does not look like Claude Code: {behaviour}");
    if let Some(words) = stderr_excerpt(stderr) {
        message = format!("{message}; its standard error ended with: {words}");
    }
    let kind = match mismatch {
        // The real program may have been terminated; a retry clarifies that.
        Mismatch::Ended { .. } => AgentErrorKind::Crashed,
        _ => AgentErrorKind::NotAvailable,
    };
    AgentError::new(kind, message).with_remedy(REMEDY)
}

fn version(answer: &ShortAnswer) -> String {
    let printed = match answer.stdout.as_str() {
        "" => "printed nothing".to_owned(),
        text => format!("printed \"{}\"", shorten(text)),
    };
    let end = match answer.end {
        AnswerEnd::Exited(exit) => exit.to_string(),
        AnswerEnd::TimedOut => "did not end in time".to_owned(),
        AnswerEnd::TooMuchOutput => "did not stop writing".to_owned(),
    };
    format!("run with --version, it {printed} and {end}")
}

fn shorten(output: &str) -> String {
    let line = output.lines().next().unwrap_or_default();
    let cut = match line.char_indices().nth(LONGEST) {
        Some((end, _)) => &line[..end],
        None => line,
    };
    let more = if cut.len() < output.len() { "…" } else { "" };
    format!("{}{more}", sanitize(cut))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn message_of(output: &str, stderr: &str, end: AnswerEnd) -> String {
        let answer = ShortAnswer {
            stdout: output.to_owned(),
            stderr: stderr.to_owned(),
            end,
        };
        let error = not_claude_error(Path::new("/bin/it"), &Mismatch::Version(&answer));
        assert_eq!(error.kind(), AgentErrorKind::NotAvailable);
        let remedy = error.remedy().expect("there is one");
        assert!(remedy.contains("npm install"), "{remedy}");
        error.to_string()
    }

    #[test]
    fn the_error_names_the_command_and_its_result() {
        let code = |code| AnswerEnd::Exited(Exit::Code(code));
        let much = "y\n".repeat(10_000);
        for (output, stderr, end, expected) in [
            ("", "", code(1), "printed nothing and exited with code 1"),
            (
                "",
                "boom\n",
                code(3),
                "printed nothing and exited with code 3; its standard error ended with: boom",
            ),
            (
                "cat (GNU coreutils) 9.1\nCopyright",
                "",
                code(0),
                "printed \"cat (GNU coreutils) 9.1…\" and exited with code 0",
            ),
            (
                &much,
                "",
                AnswerEnd::TooMuchOutput,
                "printed \"y…\" and did not stop writing",
            ),
            (
                "\u{1b}[2J\u{202e}x",
                "\u{7}\u{1b}]0;owned\u{7}",
                AnswerEnd::TimedOut,
                "printed \" [2J\u{fffd}x\" and did not end in time; its standard error ended with: ]0;owned",
            ),
        ] {
            let whole = format!(
                "\"/bin/it\" does not look like Claude Code: run with --version, it {expected}"
            );
            assert_eq!(message_of(output, stderr, end), whole);
        }
    }

    #[test]
    fn the_error_stays_short() {
        let message = message_of(
            &"ü".repeat(9000),
            &"é".repeat(70_000),
            AnswerEnd::TooMuchOutput,
        );

        assert!(
            message.chars().count() < 1200,
            "{}",
            message.chars().count()
        );
    }

    #[test]
    fn a_session_without_a_protocol_message_is_reported_with_its_exit() {
        let error = not_claude_error(
            Path::new("/bin/it"),
            &Mismatch::Ended {
                exit: Exit::Code(0),
                stderr: "usage: it",
            },
        );

        assert_eq!(
            error.to_string(),
            "\"/bin/it\" does not look like Claude Code: started for a session, it exited with \
             code 0 without a message of the protocol; its standard error ended with: usage: it"
        );
    }
}
