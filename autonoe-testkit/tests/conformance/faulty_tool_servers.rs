//! Tool servers with one fault each.

use autonoe_testkit::conformance::tool_server;

use crate::conformance::local_tool_server::{Fault, LocalServer};

#[tokio::test(start_paused = true)]
async fn a_server_without_a_fault_passes() {
    let report = tool_server(LocalServer::harness(Fault::Nothing)).await;

    report.assert();
    assert_eq!(report.passed().len(), 15, "{report}");
    assert!(report.skipped().is_empty(), "{report}");
}

#[tokio::test(start_paused = true)]
async fn every_fault_is_found() {
    let listed = "every tool is listed with its name and schema";
    let strangers = "no client gets access without the secret";
    let other_secret = "the secret of one session opens no other";
    let ended = "it ends with the tools that it served";
    let others = "the end of one session does not affect others";
    for (fault, checks) in [
        (Fault::ForgetsToRead, &[listed][..]),
        (Fault::HidesATool, &[listed]),
        (
            Fault::MendsArguments,
            &["arguments that do not fit reach no tool"],
        ),
        (
            Fault::KeepsReasonsToItself,
            &["the reason of a failed tool is reported"],
        ),
        (Fault::TakesAnotherTool, &["an unknown tool is not called"]),
        (Fault::MistakesTheSession, &["a tool knows its session"]),
        (
            Fault::DoesOneThingAtATime,
            &["calls are carried out side by side"],
        ),
        (
            Fault::ListensOnAllInterfaces,
            &["it is reachable from this machine only"],
        ),
        (Fault::RequiresNoSecret, &[strangers, other_secret]),
        (Fault::ComparesHalfTheSecret, &[strangers]),
        (Fault::TakesAnySecret, &[other_secret]),
        (Fault::MixesUpTools, &["each session has its own tools"]),
        (
            Fault::HasOneSecret,
            &[
                other_secret,
                "a session that is served twice has two secrets",
            ],
        ),
        (Fault::KeepsServing, &[ended]),
        (
            Fault::ContinuesCalls,
            &["a running call is cancelled at the end"],
        ),
        (Fault::EndsThemAll, &[others]),
    ] {
        let report = tool_server(LocalServer::harness(fault)).await;

        let failures = report.failures().iter();
        let failed: Vec<&str> = failures.map(|failure| failure.check.as_str()).collect();
        assert_eq!((fault, &failed[..]), (fault, checks), "{report}");
    }
}

#[tokio::test(start_paused = true)]
async fn a_server_that_does_not_serve_or_panics_passes_nothing() {
    for fault in [Fault::DoesNotServe, Fault::Panics] {
        let report = tool_server(LocalServer::harness(fault)).await;

        assert_eq!(report.passed(), Vec::<String>::new(), "{fault:?}");
        assert_eq!(report.failures().len(), 15, "{report}");
    }
}
