//! Conformance suites pass correct implementations and detect every fault of the others.

mod broken_repositories;
mod conforming;
mod faulty_bash;
mod faulty_claims;
mod faulty_clients;
mod faulty_controls;
mod faulty_engine;
mod faulty_engines;
mod faulty_events;
mod faulty_gates;
mod faulty_hooks;
mod faulty_host;
mod faulty_hosts;
mod faulty_repositories;
mod faulty_sandboxes;
mod faulty_streams;
mod faulty_tool_servers;
mod faulty_tools;
mod lazy_backend;
mod leftover_processes;
mod local_tool_server;
mod lossy_repositories;
mod scripted_harness;

use autonoe_testkit::conformance::Conformance;

/// Asserts that exactly `checks` failed.
#[track_caller]
fn assert_fails(report: &Conformance, checks: &[&str]) {
    let failed: Vec<&str> = report
        .failures()
        .iter()
        .map(|failure| failure.check.as_str())
        .collect();
    assert_eq!(failed, checks, "{report}");
}
