//! Workers in this process.

use std::thread::JoinHandle;

use autonoe_temporal::{TemporalSettings, TemporalWorker, WorkerSettings};
use tokio_util::sync::CancellationToken;

/// A worker on a thread of its own, which stops with its handle.
pub(crate) struct Working {
    stopped: CancellationToken,
    thread: Option<JoinHandle<()>>,
}

impl Working {
    /// Starts a worker that carries out what `equip` says.
    pub(crate) fn start(
        settings: TemporalSettings,
        worker: WorkerSettings,
        equip: impl FnOnce(TemporalWorker) -> TemporalWorker + Send + 'static,
    ) -> Self {
        let stopped = CancellationToken::new();
        let until = stopped.clone();
        let thread = std::thread::spawn(move || {
            let runtime = tokio::runtime::Builder::new_current_thread()
                .enable_all()
                .build()
                .expect("a runtime can be made");
            runtime.block_on(async {
                let worker = TemporalWorker::connect(settings, worker).await;
                let worker = equip(worker.expect("there is a server"));
                worker.run(until).await.expect("it works");
            });
        });
        Self {
            stopped,
            thread: Some(thread),
        }
    }
}

impl Drop for Working {
    fn drop(&mut self) {
        self.stopped.cancel();
        let ended = self.thread.take().map(JoinHandle::join);
        if !std::thread::panicking() {
            assert!(matches!(ended, Some(Ok(()))), "a worker panicked");
        }
    }
}
