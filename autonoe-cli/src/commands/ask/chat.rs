//! Interactive chat of `autonoe ask` on a terminal.

use std::io;
use std::pin::pin;
use std::process::ExitCode;

use autonoe_app::exit_code;
use autonoe_core::RunControl;
use futures::FutureExt;
use tokio::sync::oneshot;

use super::conversation::{Conversation, cost};
use crate::cli_env::CliEnv;
use crate::commands::signals;
use crate::error::CliError;

const COMMANDS: &str =
    "/new starts a new conversation, /cost prints what the chat has cost, /exit ends it";

/// One input of the operator.
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
    env: &CliEnv,
) -> Result<ExitCode, CliError> {
    conversation.presenter.print(&format!("Chat: {COMMANDS}."));
    let mut terminated = pin!(signals::listen_for_termination());
    loop {
        // Registered before the prompt is printed, so that no interrupt after it is lost.
        let interrupted = signals::listen_for_stop();
        conversation.presenter.print_prompt();
        let text = tokio::select! {
            text = read_message() => text?,
            () = interrupted => {
                env.print_note("");
                return Ok(exit_code::INTERRUPTED.into());
            }
        };
        let Some(text) = text else {
            env.print_note("");
            return Ok(ExitCode::SUCCESS);
        };
        match parse(&text) {
            None => {}
            Some(Input::Exit) => return Ok(ExitCode::SUCCESS),
            Some(Input::New) => conversation.reset(),
            Some(Input::Cost) => env.print_note(&cost(&conversation.spent.cost)),
            Some(Input::Unknown(command)) => {
                env.print_note(&format!("unknown command {command}: {COMMANDS}"));
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
                    env.print_error(&unanswered.error);
                }
            }
        }
    }
}

/// Parses an input of the operator; `None` if it is blank.
fn parse(text: &str) -> Option<Input> {
    let text = text.trim();
    Some(match text {
        "" => return None,
        "/new" => Input::New,
        "/cost" => Input::Cost,
        "/exit" => Input::Exit,
        // A path contains another slash, and a question contains blanks.
        _ => match text.strip_prefix('/') {
            Some(name) if !name.contains(|c: char| c == '/' || c.is_whitespace()) => {
                Input::Unknown(text.to_owned())
            }
            _ => Input::Message(text.to_owned()),
        },
    })
}

/// Reads a message from standard input. A line that ends with a backslash continues on the next
/// line. Returns `None` at the end of the input.
async fn read_message() -> Result<Option<String>, CliError> {
    let (sender, message) = oneshot::channel();
    // A separate thread: at the end of the chat, the runtime would wait for its own blocking
    // threads.
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
    fn commands_are_distinguished_from_messages() {
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
