//! Asynchronous runtime of commands.

use tokio::runtime::{Builder, Runtime};

use crate::error::CliError;

/// Runs a future to completion on a new runtime.
pub(super) fn block_on<T>(work: impl Future<Output = Result<T, CliError>>) -> Result<T, CliError> {
    runtime()?.block_on(work)
}

/// Creates a runtime on the current thread.
pub(super) fn runtime() -> Result<Runtime, CliError> {
    Builder::new_current_thread()
        .enable_all()
        .build()
        .map_err(|error| CliError::failure(format!("the program cannot start: {error}")))
}
