//! `autonoe-worker engine`: answers the program `autonoe`.

use autonoe_harness::serve_engine;
use autonoe_temporal::{TemporalEngine, TemporalSettings};

use crate::error::WorkerProblem;

/// Answers questions over standard input and output until there are no more.
pub(crate) async fn serve(server: TemporalSettings) -> Result<(), WorkerProblem> {
    let engine = TemporalEngine::connect(server).await?;
    serve_engine(&engine, tokio::io::stdin(), tokio::io::stdout()).await?;
    Ok(())
}
