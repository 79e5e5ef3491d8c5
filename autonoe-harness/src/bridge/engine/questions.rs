//! The questions that wait for an answer.

use std::collections::HashMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use tokio::io::{AsyncRead, AsyncWrite, AsyncWriteExt};
use tokio::sync::{mpsc, oneshot};
use tokio_util::sync::CancellationToken;

use super::wire::{EngineAsk, EngineTell};
use crate::bridge::BridgeError;
use crate::bridge::asked::{Asked, Told};
use crate::bridge::lines::{Lines, line_of, write_all};

/// How many lines may wait to be written before who asks has to wait.
pub(super) const ROOM: usize = 64;

/// The questions that wait for an answer.
#[derive(Debug)]
pub(super) struct Questions {
    say: mpsc::Sender<String>,
    standing: Mutex<Standing>,
    /// Cancelled when nothing more is answered.
    over: CancellationToken,
}

#[derive(Debug, Default)]
struct Standing {
    /// How many were asked; the number of the last one.
    asked: u64,
    open: HashMap<u64, oneshot::Sender<EngineTell>>,
    /// Why no more is answered, in the words of who found out.
    over: Option<String>,
}

/// Why there is no answer.
#[derive(Debug)]
pub(super) enum Unanswered {
    /// The question cannot be put.
    Unspeakable(BridgeError),
    /// Nobody answers any more. Why, where that is known.
    Over(String),
}

impl Questions {
    /// Makes the questions whose lines go to who reads the other end of `say`.
    pub(super) fn new(say: mpsc::Sender<String>) -> Arc<Self> {
        Arc::new(Self {
            say,
            standing: Mutex::default(),
            over: CancellationToken::new(),
        })
    }

    /// Asks, and waits for the answer.
    pub(super) async fn ask(&self, ask: EngineAsk) -> Result<EngineTell, Unanswered> {
        // Room first: from then on the line goes whole, whatever becomes of who asks.
        let Ok(room) = self.say.reserve().await else {
            return Err(self.unanswered());
        };
        let (waiting, answered) = {
            let mut standing = self.standing();
            if let Some(why) = &standing.over {
                return Err(Unanswered::Over(why.clone()));
            }
            let id = standing.asked + 1;
            let line = line_of(&Asked { id, ask }).map_err(Unanswered::Unspeakable)?;
            standing.asked = id;
            let (tell, told) = oneshot::channel();
            standing.open.insert(id, tell);
            room.send(line);
            let questions = self;
            (Waiting { questions, id }, told)
        };
        let told = answered.await;
        drop(waiting);
        told.map_err(|_| self.unanswered())
    }

    fn unanswered(&self) -> Unanswered {
        let over = self.standing().over.clone();
        Unanswered::Over(over.unwrap_or_else(|| "it reads no more".to_owned()))
    }

    /// Gives answers to who asked, until there are no more.
    pub(super) async fn hear<R: AsyncRead + Unpin>(&self, mut lines: Lines<R>) {
        let why = loop {
            match lines.next().await {
                Ok(Some(Told { id, tell })) => {
                    if let Err(error) = self.heard(id, tell) {
                        break error.to_string();
                    }
                }
                Ok(None) => break "it answers no more".to_owned(),
                Err(error) => break error.to_string(),
            }
        };
        self.end(&why);
    }

    fn heard(&self, id: u64, tell: EngineTell) -> Result<(), BridgeError> {
        let mut standing = self.standing();
        match standing.open.remove(&id) {
            Some(asker) => {
                let _ = asker.send(tell);
                Ok(())
            }
            // Nobody waits for it any more.
            None if id <= standing.asked => Ok(()),
            None => Err(BridgeError::out_of_turn(format!(
                "it answers question {id}, which nobody asked"
            ))),
        }
    }

    /// Says that nothing more is answered. The first reason stands.
    pub(super) fn end(&self, why: &str) {
        let mut standing = self.standing();
        standing.over.get_or_insert_with(|| why.to_owned());
        standing.open.clear();
        self.over.cancel();
    }

    /// Writes what is asked, until nothing more is answered. Then it says so to the other side.
    pub(super) async fn write(
        &self,
        said: mpsc::Receiver<String>,
        mut output: impl AsyncWrite + Unpin,
    ) {
        tokio::select! {
            _written = write_all(said, &mut output) => self.end("it reads no more"),
            () = self.over.cancelled() => {}
        }
        let _ = output.shutdown().await;
    }

    fn standing(&self) -> MutexGuard<'_, Standing> {
        self.standing.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// One question that somebody waits for.
struct Waiting<'a> {
    questions: &'a Questions,
    id: u64,
}

impl Drop for Waiting<'_> {
    fn drop(&mut self) {
        let was_open = self.questions.standing().open.remove(&self.id);
        if was_open.is_none() {
            return;
        }
        let forget = Asked {
            id: self.id,
            ask: EngineAsk::Forget,
        };
        // Where there is no room it waits on for an answer that nobody hears.
        if let Ok(line) = line_of(&forget) {
            let _ = self.questions.say.try_send(line);
        }
    }
}
