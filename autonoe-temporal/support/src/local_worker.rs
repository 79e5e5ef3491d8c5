//! [`RunningWorker`]: a worker in this process.

use std::fs;
use std::sync::atomic::{AtomicU32, Ordering};
use std::thread::{Builder, JoinHandle};

use autonoe_temporal::{TemporalSettings, TemporalWorker, WorkerSettings};
use tokio_util::sync::CancellationToken;

/// A worker on its own threads, which stops when the handle is dropped.
#[derive(Debug)]
pub struct RunningWorker {
    stopped: CancellationToken,
    name: String,
    thread: Option<JoinHandle<()>>,
}

impl RunningWorker {
    /// Starts a worker that `equip` configures.
    pub fn start(
        settings: TemporalSettings,
        worker: WorkerSettings,
        equip: impl FnOnce(TemporalWorker) -> TemporalWorker + Send + 'static,
    ) -> Self {
        static COUNT: AtomicU32 = AtomicU32::new(0);
        // Linux keeps fifteen bytes of a thread name.
        let name = format!("worker-{}.", COUNT.fetch_add(1, Ordering::Relaxed));
        let stopped = CancellationToken::new();
        let (until, own) = (stopped.clone(), name.clone());
        let thread = Builder::new().name(name.clone()).spawn(move || {
            let runtime = tokio::runtime::Builder::new_current_thread()
                .thread_name(own)
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
            name,
            thread: Some(thread.expect("a thread can be made")),
        }
    }

    /// Requests a stop, without waiting for it.
    pub fn stop(&self) {
        self.stopped.cancel();
    }

    /// Returns whether one of its threads is alive.
    fn has_threads(&self) -> bool {
        let threads = fs::read_dir("/proc/self/task").expect("it is there");
        let names = threads.flatten().map(|thread| {
            let name = fs::read_to_string(thread.path().join("comm"));
            // The thread may have ended by now.
            name.unwrap_or_default()
        });
        names.into_iter().any(|name| name.trim_end() == self.name)
    }
}

impl Drop for RunningWorker {
    fn drop(&mut self) {
        self.stop();
        let ended = self.thread.take().map(JoinHandle::join);
        if !std::thread::panicking() {
            assert!(matches!(ended, Some(Ok(()))), "a worker panicked");
            assert!(!self.has_threads(), "a thread of {} is left", self.name);
        }
    }
}
