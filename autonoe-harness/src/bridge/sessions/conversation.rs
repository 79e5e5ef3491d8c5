//! One question to a program, from its start to its end.

use std::sync::Arc;
use std::time::Duration;

use autonoe_core::{Clock, Failure, Retry, RunProgress};
use autonoe_process::{EndedBy, Exit, Process, ShutDown, Started, Stdin, Stdout};
use futures::future::{self, Either};
use serde::Serialize;
use tokio::io::AsyncWriteExt;
use tokio_util::sync::CancellationToken;

use super::wire::{PROTOCOL, SessionAsk, SessionTell};
use crate::bridge::asked::{Asked, Told};
use crate::bridge::lines::{Lines, line_of};
use crate::bridge::program::{complaint, not_started};
use crate::bridge::{BridgeError, PipedProgram};

/// The number of the only question.
const ID: u64 = 1;

/// How long a program may say nothing.
#[derive(Clone, Copy, Debug)]
pub(super) struct Silence {
    /// Before its first line, and after its answer.
    pub(super) outside: Duration,
    /// While it works.
    pub(super) at_work: Duration,
    /// How long it has to answer once it was cancelled, whatever it says meanwhile.
    pub(super) cancelled: Duration,
}

/// One question to a program, from its start to its end.
pub(super) struct Conversation<'a> {
    pub(super) program: &'a PipedProgram,
    pub(super) clock: Arc<dyn Clock>,
    pub(super) silence: Silence,
}

/// Why there is no answer.
#[derive(Debug)]
enum Trouble {
    /// The program ended before it said what it speaks.
    NotBegun,
    /// The program ended without an answer.
    NoAnswer,
    /// The program said nothing for too long.
    Silent(Duration),
    /// What it says is wrong.
    Wrong(BridgeError),
}

impl From<BridgeError> for Trouble {
    fn from(error: BridgeError) -> Self {
        match error {
            // The other end is gone; how it ended says more.
            BridgeError::Io(_) => Self::NoAnswer,
            error => Self::Wrong(error),
        }
    }
}

impl Conversation<'_> {
    /// Asks, and returns the answer once the program has ended in order with all that it started.
    pub(super) async fn ask(
        &self,
        ask: SessionAsk,
        beat: &(dyn Fn(RunProgress) + Send + Sync),
        cancelled: &CancellationToken,
    ) -> Result<SessionTell, Failure> {
        let started = self.program.start().await;
        let Started {
            process,
            mut stdin,
            stdout,
        } = started.map_err(|error| not_started(&error))?;
        let mut lines = Lines::of(stdout);
        let talking = self.talk(ask, &mut stdin, &mut lines, beat, cancelled);
        let told = talking.await;
        let told = match told {
            // Its input stays open until it has ended: the end of it would be a farewell of ours.
            Ok(told) => self.last_words(&mut lines).await.map(|()| told),
            Err(trouble) => Err(trouble),
        };
        self.end(process, told).await
    }

    async fn talk(
        &self,
        ask: SessionAsk,
        stdin: &mut Stdin,
        lines: &mut Lines<Stdout>,
        beat: &(dyn Fn(RunProgress) + Send + Sync),
        cancelled: &CancellationToken,
    ) -> Result<SessionTell, Trouble> {
        let greeting = async {
            say(stdin, PROTOCOL.hello()).await?;
            PROTOCOL.greeted(lines).await
        };
        let greeted = self.within(self.silence.outside, greeting).await;
        match greeted {
            // It may have ended before it read anything.
            Ok(false) | Err(Trouble::NoAnswer) => return Err(Trouble::NotBegun),
            greeted => greeted?,
        };
        let last_call = || Either::Right(self.clock.sleep(self.silence.cancelled));
        let mut last_called = match ask {
            SessionAsk::AttachOrStart {
                cancelled: true, ..
            } => last_call(),
            _ => Either::Left(future::pending()),
        };
        let asking = say(stdin, Asked { id: ID, ask });
        self.within(self.silence.at_work, asking).await?;
        loop {
            tokio::select! {
                biased;
                () = &mut last_called => return Err(Trouble::Silent(self.silence.cancelled)),
                () = cancelled.cancelled(), if matches!(last_called, Either::Left(_)) => {
                    let ask = SessionAsk::Cancel;
                    let cancelling = say(stdin, Asked { id: ID, ask });
                    // It may have answered and ended meanwhile.
                    match self.within(self.silence.cancelled, cancelling).await {
                        Err(Trouble::NoAnswer) | Ok(()) => {}
                        Err(trouble) => return Err(trouble),
                    }
                    last_called = last_call();
                }
                told = self.within(self.silence.at_work, lines.next()) => match told? {
                    None => return Err(Trouble::NoAnswer),
                    Some(Told { id: ID, tell: SessionTell::Beat(at) }) => beat(at),
                    Some(Told { id: ID, tell }) => return Ok(tell),
                    Some(Told { id, .. }) => {
                        let what = format!("question {ID} was asked, and {id} is answered");
                        return Err(BridgeError::out_of_turn(what).into());
                    }
                },
            }
        }
    }

    /// Waits until the program says nothing any more.
    async fn last_words(&self, lines: &mut Lines<Stdout>) -> Result<(), Trouble> {
        let next = lines.next::<serde_json::Value>();
        match self.within(self.silence.outside, next).await? {
            None => Ok(()),
            Some(_) => Err(BridgeError::out_of_turn("it goes on after its answer").into()),
        }
    }

    async fn within<T>(
        &self,
        limit: Duration,
        work: impl Future<Output = Result<T, BridgeError>>,
    ) -> Result<T, Trouble> {
        tokio::select! {
            biased;
            done = work => Ok(done?),
            () = self.clock.sleep(limit) => Err(Trouble::Silent(limit)),
        }
    }

    /// Ends the program. Its answer counts if it ends by itself, without an error and whole.
    async fn end(
        &self,
        process: Process,
        told: Result<SessionTell, Trouble>,
    ) -> Result<SessionTell, Failure> {
        if told.is_ok() {
            // Its pipe is closed; it is about to end.
            tokio::select! {
                _ = process.exited() => {}
                () = self.clock.sleep(self.silence.outside) => {}
            }
        }
        let end = process.shut_down(self.program.ladder()).await;
        if !end.killed.is_empty() {
            let (program, count) = (self.program.path(), end.killed.len());
            tracing::warn!(?program, count, "a program left processes behind");
        }
        let (told, mut failure) = match told {
            Ok(told) => match in_order(&end) {
                Ok(()) => return Ok(told),
                Err(how) => (true, Failure::retryable("program_failed", how)),
            },
            Err(trouble) => (false, trouble.written_down(&end)),
        };
        let program = self.program.path().display();
        let what = if told { " after its answer" } else { "" };
        let complaint = complaint(&end.stderr_tail);
        failure.message = format!(
            "the program {program} failed{what}: {}{complaint}",
            failure.message
        );
        Err(failure)
    }
}

async fn say(stdin: &mut Stdin, line: impl Serialize) -> Result<(), BridgeError> {
    stdin.write_all(line_of(&line)?.as_bytes()).await?;
    Ok(())
}

/// Tells whether a program ended by itself, without an error and with all that it started; or how
/// it ended instead.
fn in_order(end: &ShutDown) -> Result<(), String> {
    match (end.exit, end.ended_by) {
        _ if !end.left.is_empty() => {
            let left = end.left.len();
            Err(format!("{left} processes of it live on"))
        }
        (Some(Exit::Code(0)), EndedBy::Itself) => Ok(()),
        (Some(exit), EndedBy::Itself) => Err(format!("it {}", words(exit))),
        _ => Err("it did not end by itself".to_owned()),
    }
}

fn words(exit: Exit) -> String {
    match exit {
        Exit::Signal(_) => format!("was {exit}"),
        exit => exit.to_string(),
    }
}

impl Trouble {
    fn written_down(self, end: &ShutDown) -> Failure {
        let exit = end.exit.map_or("did not end".to_owned(), words);
        match self {
            // With the same arguments in the same folder it ends again.
            Self::NotBegun if matches!(end.exit, Some(Exit::Code(_))) => {
                let message = format!("it {exit} before it said what it speaks");
                Failure::permanent("program_refused", message)
            }
            Self::NotBegun | Self::NoAnswer => {
                let message = format!("it {exit} without an answer");
                Failure::retryable("program_lost", message)
            }
            Self::Silent(limit) => {
                let message = format!("it said nothing for {} seconds", limit.as_secs());
                Failure::retryable("program_silent", message)
            }
            Self::Wrong(error) => Failure::from_error(error.code(), &error, Retry::Useless),
        }
    }
}
