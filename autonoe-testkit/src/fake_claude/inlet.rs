//! What comes to the program, in one queue.

use std::io::{BufRead, BufReader, Read};
use std::sync::mpsc::{self, Receiver, Sender};
use std::thread;

use serde_json::Value;

use super::Signal;
use super::shell::Ran;

/// Something that came to the program.
#[derive(Debug)]
pub(super) enum Event {
    /// The host wrote a line.
    Line(Value),
    /// The host wrote a line that is no JSON.
    Broken(String),
    /// The host closed the input.
    End,
    /// A signal.
    Signal(Signal),
    /// A command of a tool is over.
    Ran(Ran),
}

/// Begins to listen, on threads that end with their sources. More can be put into the queue.
pub(super) fn listen(
    stdin: impl Read + Send + 'static,
    signals: Option<Receiver<Signal>>,
) -> (Sender<Event>, Receiver<Event>) {
    let (tell, told) = mpsc::channel();
    let queue = tell.clone();
    thread::spawn(move || {
        for line in BufReader::new(stdin).split(b'\n') {
            let Ok(line) = line else { break };
            if line.trim_ascii().is_empty() {
                continue;
            }
            let event = match serde_json::from_slice(&line) {
                Ok(value) => Event::Line(value),
                Err(_) => Event::Broken(String::from_utf8_lossy(&line).into_owned()),
            };
            if queue.send(event).is_err() {
                return;
            }
        }
        let _ = queue.send(Event::End);
    });
    if let Some(signals) = signals {
        let queue = tell.clone();
        thread::spawn(move || {
            for signal in signals {
                if queue.send(Event::Signal(signal)).is_err() {
                    return;
                }
            }
        });
    }
    (tell, told)
}
