//! Port of judges: models that decide statements which no command can check.

use async_trait::async_trait;
use tokio::sync::Mutex;

use super::{OpenSessions, SessionOrder};
use crate::agent::{Budget, SessionEnd, SessionOutcome, SessionReport};
use crate::event::Failure;
use crate::run::SessionAccess;
use crate::tool::{JudgeVerdict, VerdictSlot, verdict_tool};

/// Lets a model judge whether a statement holds.
///
/// Implementations must use a separate session that cannot change anything, provide the tool
/// `verdict` (see [`verdict_tool`]), and return the verdict given through it. Prose of the model is
/// not a verdict. [`SessionJudge`] does so in the sessions of a flow.
#[async_trait]
pub trait Judge: Send + Sync {
    /// Judges a statement. The report of a session that failed is not an error.
    ///
    /// # Errors
    ///
    /// No session could be started.
    async fn judge(&self, question: &JudgeQuestion<'_>) -> Result<Judged, Failure>;
}

/// A question to a judge.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct JudgeQuestion<'a> {
    /// The name of the session, for observers and the journal.
    pub name: &'a str,
    /// The statement to judge, with the evidence.
    pub prompt: &'a str,
    /// The model of the judge; the judge's default if `None`.
    pub model: Option<&'a str>,
    /// The limits of the session.
    pub budget: Budget,
}

/// The answer of a judge.
#[derive(Clone, Debug, PartialEq)]
pub struct Judged {
    /// The verdict; `None` if the model gave none. A session that did not complete has none: its
    /// model may not have seen everything.
    pub verdict: Option<JudgeVerdict>,
    /// The end of the session, such as a rate limit, with its cost and its tokens.
    pub session: SessionReport,
}

/// Judges in read-only sessions of a flow.
pub struct SessionJudge<'a>(Mutex<&'a mut OpenSessions>);

impl<'a> SessionJudge<'a> {
    /// Creates a judge that uses `sessions`.
    pub fn new(sessions: &'a mut OpenSessions) -> Self {
        Self(Mutex::new(sessions))
    }
}

impl std::fmt::Debug for SessionJudge<'_> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("SessionJudge").finish_non_exhaustive()
    }
}

#[async_trait]
impl Judge for SessionJudge<'_> {
    async fn judge(&self, question: &JudgeQuestion<'_>) -> Result<Judged, Failure> {
        let slot = VerdictSlot::default();
        let mut order = SessionOrder::new(question.prompt)
            .name(question.name)
            .access(SessionAccess::read_only())
            .budget(question.budget)
            .tool(verdict_tool(&slot));
        if let Some(model) = question.model {
            order = order.model(model);
        }
        let session = self.0.lock().await.run(order).await.result;
        let is_complete = session.end == SessionEnd::Outcome(SessionOutcome::Completed);
        Ok(Judged {
            verdict: slot.take().filter(|_| is_complete),
            session,
        })
    }
}
