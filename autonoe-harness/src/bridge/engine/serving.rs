//! An engine behind two pipes.

use std::collections::HashMap;
use std::pin::pin;

use autonoe_core::{Engine, EngineError};
use futures::StreamExt;
use futures::future::{AbortHandle, Abortable};
use futures::stream::FuturesUnordered;
use tokio::io::{AsyncRead, AsyncWrite};
use tokio::sync::mpsc;

use super::wire::{EngineAsk, EngineTell, PROTOCOL};
use crate::bridge::BridgeError;
use crate::bridge::asked::{Asked, Told};
use crate::bridge::lines::{Lines, line_of, write_all};

/// How many lines may wait to be written before nothing more is read.
const ROOM: usize = 64;

/// Serves an [`Engine`] to who asks over `input`, and answers over `output`, until `input` ends.
///
/// Several questions can be open at once. Those that are open at the end are dropped; runs go on
/// as far as the engine lives on. The other side is a [`ProgramEngine`](crate::ProgramEngine); what
/// goes over the pipes is written down in `docs/protocols.md`.
///
/// # Errors
///
/// The other side speaks something else, or the pipes break.
///
/// ```
/// use autonoe_core::{Engine, LocalEngine, Placement, RunId, RunSpec};
/// use autonoe_harness::{ProgramEngine, serve_engine};
/// # use autonoe_core::{JobRunner, RunDesk, RunOutcome};
/// # struct Echo;
/// # #[async_trait::async_trait]
/// # impl JobRunner for Echo {
/// #     async fn run(&self, run: &RunSpec, _: &RunDesk) -> RunOutcome {
/// #         RunOutcome::succeeded(run.input.clone())
/// #     }
/// # }
/// use serde_json::json;
///
/// # tokio::runtime::Builder::new_current_thread().enable_time().build()?.block_on(async {
/// let (here, there) = tokio::io::duplex(1024);
/// tokio::spawn(async move {
///     let engine = LocalEngine::new(Echo);
///     let (input, output) = tokio::io::split(there);
///     serve_engine(&engine, input, output).await
/// });
///
/// let (input, output) = tokio::io::split(here);
/// let engine = ProgramEngine::over(input, output).await?;
/// let run = RunSpec::new(RunId::new("greeting"), "echo", json!("hello"));
/// let id = engine.submit(run, Placement::anywhere()).await?;
///
/// assert_eq!(engine.wait(&id).await?.output, json!("hello"));
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// # })?;
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
pub async fn serve_engine(
    engine: &dyn Engine,
    input: impl AsyncRead + Unpin + Send,
    output: impl AsyncWrite + Unpin + Send,
) -> Result<(), BridgeError> {
    let (say, said) = mpsc::channel(ROOM);
    let mut writing = pin!(write_all(said, output));
    let served = {
        let attending = async {
            let mut attending = Attending {
                engine,
                lines: Lines::of(input),
                say,
            };
            attending.attend().await
        };
        tokio::select! {
            biased;
            served = attending => served,
            written = &mut writing => return Ok(written?),
        }
    };
    match served {
        Ok(()) => Ok(()),
        // What was said is still written, so that the other side sees what this one speaks.
        Err(error) => {
            writing.await?;
            Err(error)
        }
    }
}

struct Attending<'a, R> {
    engine: &'a dyn Engine,
    lines: Lines<R>,
    say: mpsc::Sender<String>,
}

impl<R: AsyncRead + Unpin> Attending<'_, R> {
    async fn attend(&mut self) -> Result<(), BridgeError> {
        self.say(&PROTOCOL.hello()).await?;
        if !PROTOCOL.greeted(&mut self.lines).await? {
            return Ok(());
        }
        let mut open = FuturesUnordered::new();
        let mut handles = HashMap::new();
        loop {
            tokio::select! {
                Some((id, told)) = open.next() => {
                    handles.remove(&id);
                    if let Ok(tell) = told {
                        self.tell(id, tell).await?;
                    }
                }
                asked = self.lines.next() => match asked? {
                    None => return Ok(()),
                    Some(Asked { id, ask: EngineAsk::Forget }) => {
                        // It may have been answered meanwhile.
                        if let Some(handle) = handles.remove(&id) {
                            AbortHandle::abort(&handle);
                        }
                    }
                    Some(Asked { id, ask }) => {
                        let (handle, registration) = AbortHandle::new_pair();
                        if handles.insert(id, handle).is_some() {
                            let what = format!("question {id} is asked twice");
                            return Err(BridgeError::out_of_turn(what));
                        }
                        let answering = Abortable::new(answer(self.engine, ask), registration);
                        open.push(async move { (id, answering.await) });
                    }
                },
            }
        }
    }

    async fn tell(&self, id: u64, tell: EngineTell) -> Result<(), BridgeError> {
        let told = self.say(&Told { id, tell }).await;
        match told {
            Err(error @ BridgeError::TooLong { .. }) => {
                let reason = format!("the answer: {error}");
                let error = EngineError::Failed {
                    reason,
                    source: None,
                };
                let tell = EngineTell::Error(error.into());
                self.say(&Told { id, tell }).await
            }
            told => told,
        }
    }

    async fn say(&self, line: &impl serde::Serialize) -> Result<(), BridgeError> {
        // Whoever writes lines knows when nobody reads them.
        let _ = self.say.send(line_of(line)?).await;
        Ok(())
    }
}

async fn answer(engine: &dyn Engine, ask: EngineAsk) -> EngineTell {
    let told = match ask {
        EngineAsk::Submit { run, place } => {
            let submitted = engine.submit(run, place).await;
            submitted.map(EngineTell::Submitted)
        }
        EngineAsk::Cancel { run, reason } => {
            let cancelled = engine.cancel(&run, &reason).await;
            cancelled.map(|()| EngineTell::Done)
        }
        EngineAsk::Instruct { run, instruction } => {
            let told = engine.instruct(&run, instruction).await;
            told.map(|()| EngineTell::Done)
        }
        EngineAsk::Status { run } => {
            let view = engine.status(&run).await;
            view.map(|view| EngineTell::View(Box::new(view)))
        }
        EngineAsk::Wait { run } => engine.wait(&run).await.map(EngineTell::Outcome),
        EngineAsk::Forget => Ok(EngineTell::Done),
    };
    told.unwrap_or_else(|error| EngineTell::Error(error.into()))
}
