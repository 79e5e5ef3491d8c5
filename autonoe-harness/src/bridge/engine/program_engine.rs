//! An engine in another program.

use std::fmt;
use std::sync::Arc;
use std::time::Duration;

use async_trait::async_trait;
use autonoe_core::{
    Clock, Engine, EngineError, Placement, RunId, RunInstruction, RunOutcome, RunSpec, RunView,
    SystemClock,
};
use autonoe_process::{Process, Started};
use tokio::io::{AsyncRead, AsyncWrite, AsyncWriteExt};
use tokio::sync::mpsc;
use tokio::task::JoinSet;

use super::questions::{Questions, ROOM, Unanswered};
use super::wire::{Cause, EngineAsk, EngineTell, PROTOCOL};
use crate::bridge::lines::{Lines, line_of};
use crate::bridge::program::complaint;
use crate::bridge::{BridgeError, PipedProgram};

/// How long a program has to say what it speaks.
const GREETING: Duration = Duration::from_secs(60);

/// How long is waited for the end of a program that answers no more, to tell how it ended.
const LAST_WORDS: Duration = Duration::from_secs(5);

/// An [`Engine`] in another program, which serves it with [`serve_engine`](crate::serve_engine).
///
/// Many can ask at once. When the program ends, says what nobody understands or answers what nobody
/// asked, all that wait and all that come later are told that it is gone ([`EngineError::Gone`]), with
/// the end of what it complained of; no answer is never a success. It ends with all that it has
/// started when this is dropped, and when this process dies.
///
/// ```no_run
/// use autonoe_core::{Engine, RunId};
/// use autonoe_harness::{PipedProgram, ProgramEngine};
///
/// # async fn ask() -> Result<(), Box<dyn std::error::Error>> {
/// let program = PipedProgram::new("/usr/bin/autonoe-worker", "/")
///     .args(["engine", "--config", "/etc/autonoe/temporal.json"])
///     .env("PATH", "/usr/bin:/bin");
/// let engine = ProgramEngine::start(&program).await?;
///
/// let view = engine.status(&RunId::new("login-page")).await?;
/// # drop(view);
/// # Ok(())
/// # }
/// ```
pub struct ProgramEngine {
    questions: Arc<Questions>,
    program: Option<Program>,
    /// Who reads and who writes. They end with this.
    _talking: JoinSet<()>,
}

/// The program behind it, which ends with it.
struct Program {
    path: std::path::PathBuf,
    process: Process,
}

impl ProgramEngine {
    /// Starts a program that has an engine.
    ///
    /// # Errors
    ///
    /// It cannot be started, or is none.
    pub async fn start(program: &PipedProgram) -> Result<Self, EngineError> {
        let path = program.path().to_owned();
        let name = path.display();
        let started = program.start().await;
        let Started {
            process,
            stdin,
            stdout,
        } = started.map_err(|error| EngineError::Failed {
            reason: format!("the program {name} cannot be started"),
            source: Some(error.into()),
        })?;
        let greeting = Greeting::exchange(stdout, stdin);
        let greeted = tokio::select! {
            biased;
            greeted = greeting => greeted,
            () = SystemClock.sleep(GREETING) => {
                let limit = GREETING.as_secs();
                Err(Ungreeted::No(format!("it said nothing for {limit} seconds")))
            }
        };
        match greeted {
            Ok(greeting) => Ok(greeting.engine(Some(Program {
                path: path.clone(),
                process,
            }))),
            Err(ungreeted) => {
                let end = process.shut_down(program.ladder()).await;
                let how = match (ungreeted, end.exit) {
                    (Ungreeted::Gone, Some(exit)) => format!("it {exit} at once"),
                    (Ungreeted::Gone, None) => "it says nothing".to_owned(),
                    (Ungreeted::No(why), _) => why,
                };
                let complaint = complaint(&end.stderr_tail);
                let reason = format!("the program {name} has no engine: {how}{complaint}");
                Err(failed(reason))
            }
        }
    }

    /// Asks an engine over pipes that somebody else has opened.
    ///
    /// # Errors
    ///
    /// Nobody there speaks of engines.
    pub async fn over(
        input: impl AsyncRead + Unpin + Send + 'static,
        output: impl AsyncWrite + Unpin + Send + 'static,
    ) -> Result<Self, EngineError> {
        match Greeting::exchange(input, output).await {
            Ok(greeting) => Ok(greeting.engine(None)),
            Err(Ungreeted::Gone) => Err(failed("nobody is at the other end".to_owned())),
            Err(Ungreeted::No(why)) => Err(failed(why)),
        }
    }

    async fn ask(&self, ask: EngineAsk) -> Result<EngineTell, EngineError> {
        match self.questions.ask(ask).await {
            Ok(EngineTell::Error(told)) => Err(told.into()),
            Ok(tell) => Ok(tell),
            Err(Unanswered::Unspeakable(error)) => Err(EngineError::Failed {
                reason: "this cannot be asked".to_owned(),
                source: Some(error.into()),
            }),
            Err(Unanswered::Over(why)) => Err(self.is_over(why).await),
        }
    }

    /// Tells why nothing is answered any more.
    async fn is_over(&self, why: String) -> EngineError {
        let Some(Program { path, process }) = &self.program else {
            return EngineError::Gone {
                reason: why,
                source: None,
            };
        };
        let exited = process.exited();
        let exit = tokio::select! {
            biased;
            exit = exited => format!("it {exit}"),
            () = SystemClock.sleep(LAST_WORDS) => "it did not end".to_owned(),
        };
        let complaint = complaint(&process.stderr_tail());
        let path = path.display();
        let reason = format!("the program {path} answers no more; {exit}{complaint}");
        EngineError::Gone {
            reason,
            source: Cause::of([why]).map(Into::into),
        }
    }

    /// Says that what was told is no answer to what was asked. Who does that once is not believed
    /// any more.
    fn beside_the_point(&self, told: &EngineTell) -> EngineError {
        let error = BridgeError::out_of_turn(format!("{told:?} is no answer to what was asked"));
        self.questions.end(&error.to_string());
        EngineError::Gone {
            reason: "the answer of the program".to_owned(),
            source: Some(error.into()),
        }
    }

    async fn done(&self, ask: EngineAsk) -> Result<(), EngineError> {
        match self.ask(ask).await? {
            EngineTell::Done => Ok(()),
            told => Err(self.beside_the_point(&told)),
        }
    }
}

fn failed(reason: String) -> EngineError {
    EngineError::Failed {
        reason,
        source: None,
    }
}

/// Two who speak the same.
struct Greeting<R, W> {
    lines: Lines<R>,
    output: W,
}

/// Why they do not.
enum Ungreeted {
    /// The other end is closed.
    Gone,
    /// What it says is wrong.
    No(String),
}

impl<R, W> Greeting<R, W>
where
    R: AsyncRead + Unpin + Send + 'static,
    W: AsyncWrite + Unpin + Send + 'static,
{
    async fn exchange(input: R, mut output: W) -> Result<Self, Ungreeted> {
        let no = |error: BridgeError| match error {
            BridgeError::Io(_) => Ungreeted::Gone,
            error => Ungreeted::No(error.to_string()),
        };
        let hello = line_of(&PROTOCOL.hello()).map_err(no)?;
        let mut lines = Lines::of(input);
        let greeting = async {
            output.write_all(hello.as_bytes()).await?;
            output.flush().await?;
            PROTOCOL.greeted(&mut lines).await
        };
        match greeting.await.map_err(no)? {
            true => Ok(Self { lines, output }),
            false => Err(Ungreeted::Gone),
        }
    }

    fn engine(self, program: Option<Program>) -> ProgramEngine {
        let (say, said) = mpsc::channel(ROOM);
        let questions = Questions::new(say);
        let mut talking = JoinSet::new();
        let (lines, output) = (self.lines, self.output);
        let hearing = questions.clone();
        talking.spawn(async move { hearing.hear(lines).await });
        let writing = questions.clone();
        talking.spawn(async move { writing.write(said, output).await });
        ProgramEngine {
            questions,
            program,
            _talking: talking,
        }
    }
}

#[async_trait]
impl Engine for ProgramEngine {
    async fn submit(&self, run: RunSpec, place: Placement) -> Result<RunId, EngineError> {
        match self.ask(EngineAsk::Submit { run, place }).await? {
            EngineTell::Submitted(id) => Ok(id),
            told => Err(self.beside_the_point(&told)),
        }
    }

    async fn cancel(&self, run: &RunId, reason: &str) -> Result<(), EngineError> {
        let (run, reason) = (run.clone(), reason.to_owned());
        self.done(EngineAsk::Cancel { run, reason }).await
    }

    async fn instruct(&self, run: &RunId, instruction: RunInstruction) -> Result<(), EngineError> {
        let run = run.clone();
        self.done(EngineAsk::Instruct { run, instruction }).await
    }

    async fn status(&self, run: &RunId) -> Result<RunView, EngineError> {
        match self.ask(EngineAsk::Status { run: run.clone() }).await? {
            EngineTell::View(view) => Ok(*view),
            told => Err(self.beside_the_point(&told)),
        }
    }

    async fn wait(&self, run: &RunId) -> Result<RunOutcome, EngineError> {
        match self.ask(EngineAsk::Wait { run: run.clone() }).await? {
            EngineTell::Outcome(outcome) => Ok(outcome),
            told => Err(self.beside_the_point(&told)),
        }
    }
}

impl fmt::Debug for ProgramEngine {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let program = self.program.as_ref().map(|program| &program.path);
        f.debug_struct("ProgramEngine")
            .field("program", &program)
            .finish_non_exhaustive()
    }
}
