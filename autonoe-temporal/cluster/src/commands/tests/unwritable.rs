//! Tests of results that cannot be written.

use std::io::{self, Write};

use clap::Parser;

use super::fake_cluster::FakeCluster;
use crate::args::Cli;
use crate::commands;
use crate::output::Output;

/// A full disk.
struct Full;

impl Write for Full {
    fn write(&mut self, _: &[u8]) -> io::Result<usize> {
        Err(io::ErrorKind::StorageFull.into())
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

#[tokio::test(start_paused = true)]
async fn a_result_that_cannot_be_written_is_a_failure_of_every_command() {
    for words in [
        &["submit", "shop", "--run=other"][..],
        &["submit", "shop", "--run=other", "--output=json"],
        &["submit", "shop", "--run=shop-1", "--wait"],
        &["submit", "shop", "--run=shop-1", "--wait", "--output=json"],
        &["status", "shop-1"],
        &["status", "shop-1", "--output=json"],
        &["logs", "shop-1"],
        &["logs", "shop-1", "--json"],
        &["logs", "shop-1", "--follow"],
        &["pause", "held"],
        &["resume", "held"],
        &["send", "held", "Hello."],
        &["cancel", "held"],
        &["list"],
    ] {
        let cluster = FakeCluster::with_runs();
        let cli = Cli::parse_from(["autonoe-cluster"].iter().chain(words));
        let output = Output::new(Full, io::sink());
        let connect = async { Ok(cluster) };
        let never = std::future::pending();

        let done = commands::run(&cli, None, connect, &output, never).await;

        let error = done.expect_err("nothing is written").to_string();
        let expected = "standard output cannot be written to";
        assert!(error.contains(expected), "{words:?}: {error}");
    }
}
