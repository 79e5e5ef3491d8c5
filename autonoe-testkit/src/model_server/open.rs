//! An exchange that has not come to its end.

use std::sync::Arc;

use tokio_util::sync::CancellationToken;

use super::{Ending, RequestLog};

/// An exchange under way. Dropped, it has ended because the client left or because the
/// server was stopped.
pub(super) struct OpenExchange {
    log: Arc<dyn EndLog>,
    number: usize,
    stopped: CancellationToken,
}

/// Where ends are written down, whatever the requests are.
trait EndLog: Send + Sync {
    fn ended(&self, number: usize, ending: Ending);
}

impl<R: Send + Sync> EndLog for RequestLog<R> {
    fn ended(&self, number: usize, ending: Ending) {
        Self::ended(self, number, ending);
    }
}

impl OpenExchange {
    pub(super) fn new<R: Send + Sync + 'static>(
        log: &RequestLog<R>,
        number: usize,
        stopped: &CancellationToken,
    ) -> Self {
        Self {
            log: Arc::new(log.clone()),
            number,
            stopped: stopped.clone(),
        }
    }

    /// Says how it ended. Only the first word counts.
    pub(super) fn ended(&self, ending: Ending) {
        self.log.ended(self.number, ending);
    }
}

impl Drop for OpenExchange {
    fn drop(&mut self) {
        self.ended(match self.stopped.is_cancelled() {
            true => Ending::Stopped,
            false => Ending::PeerLeft,
        });
    }
}

impl std::fmt::Debug for OpenExchange {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_tuple("OpenExchange").field(&self.number).finish()
    }
}
