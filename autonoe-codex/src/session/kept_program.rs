//! A program between two sessions of a run.

use std::io;
use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;

use async_trait::async_trait;
use autonoe_core::{Kept, SessionSpec};
use autonoe_process::Ladder;

use super::pending::Pending;
use super::talk::Talk;
use crate::launch::{Fit, Furnishing};

/// How long it may take to end all that a session left running.
const KILLING: Duration = Duration::from_secs(30);

/// What a program stands in, from its start to its end.
pub(super) struct Standing {
    /// How it was started.
    pub(super) fit: Fit,
    pub(super) folder: PathBuf,
    pub(super) temporary: PathBuf,
    /// What was in its folder before any tool ran; `None` until that was looked at.
    pub(super) furnishing: Option<Arc<Furnishing>>,
}

/// A program without a conversation, which the next session of the run can have.
///
/// Nothing runs below it, and its folder is what it was at first.
pub(super) struct KeptProgram {
    pub(super) talk: Talk,
    pub(super) pending: Pending,
    pub(super) standing: Standing,
}

impl KeptProgram {
    /// Takes the program that is kept for a session of `spec`, which is to be started as `fit` says,
    /// if there is one and it is as it was left.
    pub(super) async fn for_session(spec: &SessionSpec, fit: &Fit) -> Option<Self> {
        let serves = |kept: &Self| kept.standing.fit.serves(fit);
        while let Some(kept) = spec.keeping.take(serves) {
            if let Some(kept) = kept.untouched().await {
                return Some(kept);
            }
        }
        // Nobody will ask for one that was started otherwise for the same folder.
        let is_outdated = |kept: &Self| kept.standing.fit.is_outdated_by(fit);
        while let Some(outdated) = spec.keeping.take(is_outdated) {
            outdated.end().await;
        }
        None
    }

    /// Ends what the session left running and brings the folder back to what it was. If that cannot
    /// be done, the program is ended.
    pub(super) async fn cleared(self) -> Option<Self> {
        let furnishing = self.standing.furnishing.clone();
        self.checked(move |talk| {
            let swept = talk.process.kill_descendants(KILLING);
            if !swept.left.is_empty() {
                return Err(io::Error::other("something of the session still runs"));
            }
            furnishing
                .ok_or(io::ErrorKind::NotFound)?
                .restore(program(talk)?)
        })
        .await
    }

    /// Looks whether the program lives and nothing has happened since it was left. If something
    /// has, it is ended.
    async fn untouched(self) -> Option<Self> {
        let furnishing = self.standing.furnishing.clone();
        self.checked(move |talk| {
            let swept = talk.process.kill_descendants(KILLING);
            if !swept.killed.is_empty() || !swept.left.is_empty() {
                return Err(io::Error::other("something runs that nobody asked for"));
            }
            if talk.process.try_exit().is_some() {
                return Err(io::Error::other("it has ended"));
            }
            furnishing
                .ok_or(io::ErrorKind::NotFound)?
                .verify(program(talk)?)
        })
        .await
    }

    async fn checked(
        self,
        check: impl FnOnce(&Talk) -> io::Result<()> + Send + 'static,
    ) -> Option<Self> {
        let checked = tokio::task::spawn_blocking(move || (check(&self.talk), self)).await;
        match checked {
            Ok((Ok(()), kept)) => Some(kept),
            Ok((Err(error), kept)) => {
                tracing::info!(%error, "a program of Codex is not used for another session");
                Box::new(kept).end().await;
                None
            }
            // It was dropped, which ends it too.
            Err(error) => {
                tracing::error!(%error, "a program of Codex could not be looked at");
                None
            }
        }
    }
}

/// Returns the number of the program, with nothing below it.
fn program(talk: &Talk) -> io::Result<u32> {
    let program = talk.program();
    program.ok_or_else(|| io::Error::other("the program is not alone"))
}

#[async_trait]
impl Kept for KeptProgram {
    async fn end(self: Box<Self>) {
        let report = self.talk.into_process().shut_down(Ladder::default()).await;
        if !report.is_complete() {
            tracing::error!(?report, "something of Codex is left");
        }
    }
}
