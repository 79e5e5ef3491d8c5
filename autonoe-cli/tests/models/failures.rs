//! Failures between the command and a provider.

use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

use autonoe_testkit::model_server::{FaultPosition, Refusal, ScriptedMessage, StreamFault, Turn};
use serde_json::json;

use crate::models::fixture::{CommandOutput, Fixture, shortest_run};
use crate::models::vendor::Vendor;

/// Time limit for anything, on a busy machine.
const PATIENCE: Duration = Duration::from_secs(300);

#[test]
fn a_refused_key_ends_the_run_at_once_with_a_hint() {
    for vendor in Vendor::ALL {
        let server = vendor.serve([Refusal::unauthorized()]);
        let fixture = Fixture::on(vendor, &server);

        let output = fixture.run(vendor, &[]);

        assert_eq!(output.code, Some(1), "{vendor:?}: {output:?}");
        assert!(
            output
                .stderr
                .contains("hint: check that the key of the provider"),
            "{vendor:?}: {output:?}"
        );
        assert_eq!(server.log().exchanges().len(), 1, "{vendor:?}");
    }
}

#[test]
fn a_model_that_is_not_there_ends_the_run_at_once_with_a_hint() {
    for vendor in Vendor::ALL {
        let server = vendor.serve([Refusal::model_not_found(vendor.model())]);
        let fixture = Fixture::on(vendor, &server);

        let output = fixture.run(vendor, &[]);

        assert_eq!(output.code, Some(1), "{vendor:?}: {output:?}");
        assert!(
            output.stderr.contains("hint: check the name of the model"),
            "{vendor:?}: {output:?}"
        );
    }
}

#[test]
fn a_long_retry_after_counts_as_a_spent_quota() {
    for vendor in Vendor::ALL {
        let server = vendor.serve([Refusal::rate_limited().retry_after(7200)]);
        let fixture = Fixture::on(vendor, &server);

        let output = fixture.run(vendor, &[]);

        assert_eq!(output.code, Some(5), "{vendor:?}: {output:?}");
        assert_eq!(server.log().exchanges().len(), 1, "{vendor:?}");
    }
}

#[test]
fn a_run_waits_for_a_quota_if_configured_and_continues() {
    let vendor = Vendor::Responses;
    let mut turns = vec![Turn::from(Refusal::rate_limited().retry_after(2))];
    turns.extend(shortest_run());
    let server = vendor.serve(turns);
    let fixture = Fixture::with_file(&json!({
        "providers": {"scripted": vendor.spec(&server)}, "retry": {"maxRetryAfterMs": 500},
    }));
    let started_at = Instant::now();

    let output = fixture.run(vendor, &["--wait-for-quota"]);

    assert_eq!(output.code, Some(0), "{output:?}");
    assert!(
        output.stderr.contains("Quota exceeded, waiting ")
            && output.stderr.contains("Quota resets at: "),
        "{output:?}"
    );
    assert!(
        started_at.elapsed() >= Duration::from_secs(1),
        "{:?}",
        started_at.elapsed()
    );
}

#[test]
fn a_truncated_stream_is_requested_again() {
    for vendor in Vendor::ALL {
        let cut = ScriptedMessage::new()
            .says("I was about to")
            .breaks(FaultPosition::InBlock(0), StreamFault::Cut);
        let mut turns = vec![Turn::from(cut), Turn::from(Refusal::overloaded())];
        turns.extend(shortest_run());
        let server = vendor.serve(turns);
        let fixture = Fixture::on(vendor, &server);

        let output = fixture.run(vendor, &[]);

        assert_eq!(output.code, Some(0), "{vendor:?}: {output:?}");
        assert!(
            output.stdout.contains("2 iterations"),
            "{vendor:?}: {output:?}"
        );
    }
}

#[test]
fn an_unavailable_provider_gets_only_the_allowed_requests() {
    let vendor = Vendor::Gemini;
    let server = vendor.serve((0..6).map(|_| Refusal::server_error()));
    let fixture = Fixture::on(vendor, &server);

    let output = fixture.run(vendor, &["--max-retries=1"]);

    assert_eq!(output.code, Some(7), "{output:?}");
    assert_eq!(server.log().exchanges().len(), 6);
}

#[test]
fn an_interrupt_in_a_call_of_a_model_ends_the_run_with_a_report() {
    for vendor in Vendor::ALL {
        let server = vendor.serve([Turn::hang()]).unverified();
        let fixture = Fixture::on(vendor, &server);
        let mut run = fixture.run_command(vendor, &[]);
        let child = run
            .stdout(Stdio::piped())
            .stderr(Stdio::piped())
            .spawn()
            .expect("it starts");
        let started_at = Instant::now();
        while server.log().exchanges().is_empty() {
            assert!(started_at.elapsed() < PATIENCE, "{vendor:?}: nobody asks");
            std::thread::sleep(Duration::from_millis(10));
        }

        let pid = child.id().to_string();
        let sent = Command::new("kill").args(["-INT", &pid]).status();
        assert!(sent.expect("kill is there").success());
        let output = CommandOutput::from(child.wait_with_output().expect("it ends"));

        assert_eq!(output.code, Some(130), "{vendor:?}: {output:?}");
        assert!(
            output.stdout.contains("ended: it was cancelled"),
            "{vendor:?}: {output:?}"
        );
    }
}
