//! A session host behind two pipes.

use std::pin::pin;

use autonoe_core::{Failure, SessionHost};
use tokio::io::{AsyncRead, AsyncWrite};
use tokio::sync::mpsc;
use tokio_util::sync::CancellationToken;

use super::wire::{PROTOCOL, SessionAsk, SessionTell};
use crate::bridge::BridgeError;
use crate::bridge::asked::{Asked, Told};
use crate::bridge::lines::{Lines, line_of, write_all};

/// How many lines may wait to be written. Beats that find no room are not told.
const ROOM: usize = 8;

/// How it ended that a session host was asked something.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum ServedSession {
    /// It has answered.
    Answered,
    /// Whoever asked is gone. What was under way was let go.
    LetGo,
}

/// Serves a [`SessionHost`] to one question that comes over `input`, and answers over `output`.
///
/// While it works it passes on beats and takes a cancellation. The end of `input` before the answer
/// says that whoever asked is gone: then the future of the session is dropped, and with it all
/// that it started, without a record. The same happens when the future of this is dropped. The
/// other side is a [`ProgramSessionHost`](crate::ProgramSessionHost); what goes over the pipes is
/// written down in `docs/protocols.md`.
///
/// # Errors
///
/// The other side speaks something else. What was under way was let go.
///
/// ```
/// use autonoe_core::ProjectSessionHost;
/// use autonoe_harness::{ServedSession, serve_session_host};
/// # use std::sync::Arc;
/// # use autonoe_core::Project;
/// # use autonoe_testkit::ScriptedAgents;
/// use tokio::io::{AsyncReadExt, AsyncWriteExt};
///
/// # tokio::runtime::Builder::new_current_thread().enable_time().build()?.block_on(async {
/// # let dir = tempfile::tempdir()?;
/// # let (project, agents) = (Project::find(dir.path(), None)?, Arc::new(ScriptedAgents::new([])));
/// let host = ProjectSessionHost::new(project, agents);
/// let (mut asker, here) = tokio::io::duplex(1024);
/// let (input, output) = tokio::io::split(here);
/// asker.write_all(br#"{"hello":{"protocol":"autonoe-session-host","version":1}}
/// {"id":1,"ask":{"claim":{"run":"shop"}}}
/// "#).await?;
///
/// let served = serve_session_host(&host, input, output).await?;
///
/// assert_eq!(served, ServedSession::Answered);
/// let mut told = String::new();
/// asker.read_to_string(&mut told).await?;
/// assert_eq!(told.lines().last(), Some(r#"{"id":1,"tell":{"claimed":1}}"#));
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// # })?;
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
pub async fn serve_session_host(
    host: &dyn SessionHost,
    input: impl AsyncRead + Unpin + Send,
    output: impl AsyncWrite + Unpin + Send,
) -> Result<ServedSession, BridgeError> {
    let (say, said) = mpsc::channel(ROOM);
    let mut lines = Lines::of(input);
    let mut writing = pin!(write_all(said, output));
    let served = {
        let attending = attend(host, &mut lines, &say);
        let mut attending = pin!(attending);
        tokio::select! {
            biased;
            served = &mut attending => served,
            // Nobody reads any more.
            written = &mut writing => return written.map(|()| ServedSession::LetGo).or_else(gone),
        }
    };
    drop(say);
    match served {
        Ok(ServedSession::LetGo) => Ok(ServedSession::LetGo),
        served => {
            // What was said is written, unless nobody is there to read it.
            tokio::select! {
                biased;
                written = &mut writing => match written {
                    Ok(()) => served,
                    Err(error) => served.and(gone(error)),
                },
                () = ended(&mut lines) => served.and(Ok(ServedSession::LetGo)),
            }
        }
    }
}

/// A pipe that nobody reads says that whoever asked is gone.
fn gone(error: std::io::Error) -> Result<ServedSession, BridgeError> {
    match error.kind() {
        std::io::ErrorKind::BrokenPipe => Ok(ServedSession::LetGo),
        _ => Err(error.into()),
    }
}

async fn ended<R: AsyncRead + Unpin>(lines: &mut Lines<R>) {
    while let Ok(Some(_)) = lines.next::<serde_json::Value>().await {}
}

async fn attend<R: AsyncRead + Unpin>(
    host: &dyn SessionHost,
    lines: &mut Lines<R>,
    say: &mpsc::Sender<String>,
) -> Result<ServedSession, BridgeError> {
    // First, whatever the other side speaks: it is told what this one does.
    let _ = say.send(line_of(&PROTOCOL.hello())?).await;
    if !PROTOCOL.greeted(lines).await? {
        return Ok(ServedSession::LetGo);
    }
    let Some(Asked { id, ask }) = lines.next().await? else {
        return Ok(ServedSession::LetGo);
    };
    let cancelled = CancellationToken::new();
    let tell = {
        let mut work = pin!(answer(host, id, ask, say, cancelled.clone()));
        loop {
            tokio::select! {
                biased;
                tell = &mut work => break tell?,
                asked = lines.next() => match asked? {
                    None => return Ok(ServedSession::LetGo),
                    Some(Asked { id: of, ask: SessionAsk::Cancel }) if of == id => {
                        cancelled.cancel();
                    }
                    Some(_) => {
                        let what = "one question was asked, and this is another one";
                        return Err(BridgeError::out_of_turn(what));
                    }
                },
            }
        }
    };
    let line = line_of(&Told { id, tell }).or_else(|error| {
        let failure = Failure::permanent(error.code(), format!("the answer: {error}"));
        let tell = SessionTell::Failed(failure);
        line_of(&Told { id, tell })
    })?;
    let _ = say.send(line).await;
    Ok(ServedSession::Answered)
}

async fn answer(
    host: &dyn SessionHost,
    id: u64,
    ask: SessionAsk,
    say: &mpsc::Sender<String>,
    cancelled: CancellationToken,
) -> Result<SessionTell, BridgeError> {
    Ok(match ask {
        SessionAsk::Claim { run } => match host.claim(&run).await {
            Ok(epoch) => SessionTell::Claimed(epoch),
            Err(error) => error.into(),
        },
        SessionAsk::Look { run } => match host.look(&run).await {
            Ok(ledger) => SessionTell::Ledger(ledger),
            Err(failure) => SessionTell::Failed(failure),
        },
        SessionAsk::AttachOrStart {
            key,
            epoch,
            session,
            cancelled: from_the_start,
        } => {
            if from_the_start {
                cancelled.cancel();
            }
            let beat = |at| {
                let tell = SessionTell::Beat(at);
                if let Ok(line) = line_of(&Told { id, tell }) {
                    let _ = say.try_send(line);
                }
            };
            let attaching = host.attach_or_start(&key, epoch, session, &beat, cancelled);
            match attaching.await {
                Ok(outcome) => SessionTell::Outcome(outcome),
                Err(error) => error.into(),
            }
        }
        SessionAsk::Conclude { epoch, report } => match host.conclude(epoch, &report).await {
            Ok(()) => SessionTell::Concluded,
            Err(error) => error.into(),
        },
        SessionAsk::Cancel => {
            return Err(BridgeError::out_of_turn("there is nothing to cancel"));
        }
    })
}
