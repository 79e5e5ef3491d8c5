//! A chat on a terminal.

use std::io;
use std::pin::pin;
use std::process::ExitCode;

use autonoe_core::RunControl;
use futures::FutureExt;
use tokio::sync::oneshot;

use super::conversation::Conversation;
use crate::commands::signals;
use crate::error::CliError;
use crate::exit_code;
use crate::present::cost;
use crate::surroundings::Surroundings;

const COMMANDS: &str =
    "/new starts a new conversation, /cost prints what the chat has cost, /exit ends it";

/// What the operator typed.
#[derive(Debug, PartialEq, Eq)]
enum Input {
    Message(String),
    New,
    Cost,
    Exit,
    Unknown(String),
}

/// Sends each message of the operator to the agent until the operator ends the chat.
pub(super) async fn chat(
    conversation: &mut Conversation,
    surroundings: &Surroundings,
) -> Result<ExitCode, CliError> {
    conversation.presenter.say(&format!("Chat: {COMMANDS}."));
    let mut terminated = pin!(signals::terminated_from_now());
    loop {
        // Before the prompt: an interrupt after it must not be lost.
        let interrupted = signals::asked_from_now();
        conversation.answers.print_prompt();
        let text = tokio::select! {
            text = read_message() => text?,
            () = interrupted => {
                surroundings.note("");
                return Ok(exit_code::INTERRUPTED.into());
            }
        };
        let Some(text) = text else {
            surroundings.note("");
            return Ok(ExitCode::SUCCESS);
        };
        match parse(&text) {
            None => {}
            Some(Input::Exit) => return Ok(ExitCode::SUCCESS),
            Some(Input::New) => conversation.reset(),
            Some(Input::Cost) => surroundings.note(&cost(&conversation.spent.cost)),
            Some(Input::Unknown(command)) => {
                surroundings.note(&format!("unknown command {command}: {COMMANDS}"));
            }
            Some(Input::Message(message)) => {
                let control = RunControl::new();
                let presenter = conversation.presenter.clone();
                let watch = tokio::spawn(signals::watch(control.clone(), presenter));
                let sent = conversation.send(&message, &control).await;
                watch.abort();
                if terminated.as_mut().now_or_never().is_some() {
                    return Ok(exit_code::INTERRUPTED.into());
                }
                if let Err(unanswered) = sent {
                    if unanswered.is_final {
                        return Err(unanswered.error);
                    }
                    surroundings.complain(&unanswered.error);
                }
            }
        }
    }
}

/// Returns what a message of the operator means; `None` if it is blank.
fn parse(text: &str) -> Option<Input> {
    let text = text.trim();
    Some(match text {
        "" => return None,
        "/new" => Input::New,
        "/cost" => Input::Cost,
        "/exit" => Input::Exit,
        // A path has another slash, and a question has blanks.
        _ => match text.strip_prefix('/') {
            Some(name) if !name.contains(|c: char| c == '/' || c.is_whitespace()) => {
                Input::Unknown(text.to_owned())
            }
            _ => Input::Message(text.to_owned()),
        },
    })
}

/// Reads a message from standard input: a line, and the next ones after lines that end with a
/// backslash. `None` is the end of the input.
async fn read_message() -> Result<Option<String>, CliError> {
    let (sender, message) = oneshot::channel();
    // A thread of its own: the runtime would wait for one of its threads when the chat ends.
    std::thread::spawn(move || sender.send(join_lines(io::stdin().lines())));
    let message = message.await.unwrap_or(Ok(None));
    message.map_err(|error| CliError::failure(format!("standard input cannot be read: {error}")))
}

fn join_lines(lines: impl Iterator<Item = io::Result<String>>) -> io::Result<Option<String>> {
    let mut message: Option<String> = None;
    for line in lines {
        let line = line?;
        let text = message.get_or_insert_default();
        match line.strip_suffix('\\') {
            Some(part) => {
                text.push_str(part);
                text.push('\n');
            }
            None => {
                text.push_str(&line);
                break;
            }
        }
    }
    Ok(message)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn commands_are_told_from_messages() {
        let message = |text: &str| Some(Input::Message(text.to_owned()));
        for (text, input) in [
            ("", None),
            ("  ", None),
            ("/new", Some(Input::New)),
            (" /cost ", Some(Input::Cost)),
            ("/exit", Some(Input::Exit)),
            ("/quit", Some(Input::Unknown("/quit".to_owned()))),
            ("/etc/hosts", message("/etc/hosts")),
            (
                "/new is a command, is it not?",
                message("/new is a command, is it not?"),
            ),
            (" Why? ", message("Why?")),
        ] {
            assert_eq!(parse(text), input, "{text:?}");
        }
    }

    #[test]
    fn a_backslash_continues_a_message_on_the_next_line() {
        let read = |lines: &[&str]| {
            let mut lines = lines.iter().map(|line| Ok((*line).to_owned()));
            let message = join_lines(&mut lines).expect("readable");
            (message, lines.count())
        };

        assert_eq!(read(&[]), (None, 0));
        assert_eq!(read(&["one", "two"]), (Some("one".to_owned()), 1));
        assert_eq!(
            read(&["one\\", "two", "three"]),
            (Some("one\ntwo".to_owned()), 1)
        );
        assert_eq!(read(&["one\\"]), (Some("one\n".to_owned()), 0));
    }
}
