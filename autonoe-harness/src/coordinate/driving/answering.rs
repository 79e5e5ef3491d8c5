//! How an engine is asked that may fail, or not answer at all.

use std::time::Duration;

use autonoe_core::EngineError;

use crate::coordinate::coordinator::Coordinator;
use crate::coordinate::watch::ASK_AGAIN;

/// How often an engine that fails is asked the same.
const TRIES: usize = 3;

/// How long an engine may take to answer.
const ANSWER: Duration = Duration::from_secs(60);

impl Coordinator {
    /// Asks the engine, and again if it fails.
    pub(super) async fn tried<T, F: Future<Output = Result<T, EngineError>>>(
        &self,
        call: impl Fn() -> F,
    ) -> Result<T, EngineError> {
        let mut tries = 1;
        loop {
            match self.answered(call()).await {
                Err(EngineError::Failed { .. }) if tries < TRIES => {
                    tries += 1;
                    self.clock.sleep(ASK_AGAIN).await;
                }
                answer => return answer,
            }
        }
    }

    /// Waits for an answer of the engine, but not for ever: time-outs, deadlines and the cancel of the
    /// fleet wait for it, too.
    pub(super) async fn answered<T>(
        &self,
        call: impl Future<Output = Result<T, EngineError>>,
    ) -> Result<T, EngineError> {
        tokio::select! {
            biased;
            answer = call => answer,
            () = self.clock.sleep(ANSWER) => Err(EngineError::Failed {
                reason: "it does not answer".to_owned(),
                source: None,
            }),
        }
    }
}
