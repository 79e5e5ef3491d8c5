//! Sessions that a program carries out.

use std::fmt;
use std::sync::Arc;
use std::time::Duration;

use async_trait::async_trait;
use autonoe_core::{
    Clock, Epoch, Failure, HostedOutcome, HostedSession, LedgerView, RunId, RunProgress, RunReport,
    SessionHost, SessionHostError, SessionKey, SystemClock,
};
use tokio_util::sync::CancellationToken;

use super::conversation::{Conversation, Silence};
use super::wire::{SessionAsk, SessionTell};
use crate::PipedProgram;

/// A [`SessionHost`] whose work is done by a program, which is started anew for each question and
/// serves it with [`serve_session_host`](crate::serve_session_host).
///
/// Whoever drops a future of this ends the program with all that it started, and so does the death
/// of this process. A program that dies, says nothing for too long, says what nobody understands,
/// answers something else or ends with an error has failed, and its answer does not count; the end
/// of what it complained of is told. Another try may help after a death or a silence, and not when
/// it cannot be started, ended before it said what it speaks, or says wrong things.
///
/// ```no_run
/// use autonoe_core::{RunId, SessionHost};
/// use autonoe_harness::{PipedProgram, ProgramSessionHost};
///
/// # async fn ask() -> Result<(), Box<dyn std::error::Error>> {
/// let program = PipedProgram::new("/usr/bin/autonoe", "/srv/shop")
///     .args(["session-host"])
///     .env("PATH", "/usr/bin:/bin");
/// let host = ProgramSessionHost::new(program);
///
/// let epoch = host.claim(&RunId::new("login-page")).await?;
/// # drop(epoch);
/// # Ok(())
/// # }
/// ```
pub struct ProgramSessionHost {
    program: PipedProgram,
    clock: Arc<dyn Clock>,
    silence: Silence,
}

impl ProgramSessionHost {
    /// Has sessions carried out by `program`.
    pub fn new(program: PipedProgram) -> Self {
        Self {
            program,
            clock: Arc::new(SystemClock),
            silence: Silence {
                outside: Duration::from_secs(60),
                at_work: Duration::from_secs(300),
                cancelled: Duration::from_secs(60),
            },
        }
    }

    /// Sets the clock; the machine's by default.
    #[must_use]
    pub fn clock(mut self, clock: impl Clock + 'static) -> Self {
        self.clock = Arc::new(clock);
        self
    }

    /// Sets how long the program may say nothing before its first line, and how long it may take to
    /// end after its answer; a minute by default.
    #[must_use]
    pub fn greeting(mut self, limit: Duration) -> Self {
        self.silence.outside = limit;
        self
    }

    /// Sets how long the program may say nothing while it works; five minutes by default.
    #[must_use]
    pub fn silence(mut self, limit: Duration) -> Self {
        self.silence.at_work = limit;
        self
    }

    /// Sets how long the program has to end a session that was cancelled; a minute by default.
    #[must_use]
    pub fn farewell(mut self, limit: Duration) -> Self {
        self.silence.cancelled = limit;
        self
    }

    async fn ask(
        &self,
        ask: SessionAsk,
        beat: &(dyn Fn(RunProgress) + Send + Sync),
        cancelled: &CancellationToken,
    ) -> Result<SessionTell, Failure> {
        let conversation = Conversation {
            program: &self.program,
            clock: self.clock.clone(),
            silence: self.silence,
        };
        conversation.ask(ask, beat, cancelled).await
    }
}

#[async_trait]
impl SessionHost for ProgramSessionHost {
    async fn claim(&self, run: &RunId) -> Result<Epoch, SessionHostError> {
        let ask = SessionAsk::Claim { run: run.clone() };
        match self.ask(ask, &|_| {}, &CancellationToken::new()).await {
            Ok(SessionTell::Claimed(epoch)) => Ok(epoch),
            told => Err(refused(SessionKey::of_run(run), told)),
        }
    }

    async fn look(&self, run: &RunId) -> Result<LedgerView, Failure> {
        let ask = SessionAsk::Look { run: run.clone() };
        match self.ask(ask, &|_| {}, &CancellationToken::new()).await? {
            SessionTell::Ledger(ledger) => Ok(ledger),
            SessionTell::Failed(failure) => Err(failure),
            told => Err(beside_the_point(&told)),
        }
    }

    async fn attach_or_start(
        &self,
        key: &SessionKey,
        epoch: Epoch,
        session: HostedSession,
        beat: &(dyn Fn(RunProgress) + Send + Sync),
        cancelled: CancellationToken,
    ) -> Result<HostedOutcome, SessionHostError> {
        let ask = SessionAsk::AttachOrStart {
            key: key.clone(),
            epoch,
            session,
            cancelled: cancelled.is_cancelled(),
        };
        match self.ask(ask, beat, &cancelled).await {
            Ok(SessionTell::Outcome(outcome)) => Ok(outcome),
            told => Err(refused(key.clone(), told)),
        }
    }

    async fn conclude(&self, epoch: Epoch, report: &RunReport) -> Result<(), SessionHostError> {
        let ask = SessionAsk::Conclude {
            epoch,
            report: Box::new(report.clone()),
        };
        match self.ask(ask, &|_| {}, &CancellationToken::new()).await {
            Ok(SessionTell::Concluded) => Ok(()),
            told => Err(refused(SessionKey::of_run(&report.run), told)),
        }
    }
}

/// Makes an error of what is no answer to what was asked for.
fn refused(key: SessionKey, told: Result<SessionTell, Failure>) -> SessionHostError {
    let failure = match told {
        Ok(SessionTell::Fenced { asked, latest }) => {
            return SessionHostError::Fenced { asked, latest };
        }
        Ok(SessionTell::Cancelled) => return SessionHostError::Cancelled(key),
        Ok(SessionTell::Failed(failure)) | Err(failure) => failure,
        Ok(told) => beside_the_point(&told),
    };
    SessionHostError::Failed { key, failure }
}

fn beside_the_point(told: &SessionTell) -> Failure {
    let message = format!("the program answered something else than it was asked: {told:?}");
    Failure::permanent("bridge_out_of_turn", message)
}

impl fmt::Debug for ProgramSessionHost {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("ProgramSessionHost")
            .field("program", &self.program)
            .finish_non_exhaustive()
    }
}
