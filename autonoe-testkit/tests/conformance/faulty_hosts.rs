//! Session hosts with one fault each.

use autonoe_testkit::conformance::session_host;

use crate::conformance::faulty_host::{Fault, FaultyHost};

const RERUN: &str = "a session with an outcome is not run again";
const RECORDED: &str = "a returned outcome is recorded";
const TWO: &str = "two concurrent requests get one outcome";
const LEDGER: &str = "the changes of a session to the ledger are reported";
const OLDER: &str = "a caller with an older epoch is refused";
const NO_RECORD: &str = "a session of an older epoch records nothing";
const NO_WRITING: &str = "a session of an older epoch does not change the ledger";
const NO_CHANGE: &str = "reading and claiming change nothing";
const NO_WAIT: &str = "reading and claiming wait for no session";
const WAITS: &str = "a host reports that it waits";
const CANCELLED: &str = "a cancelled session ends and stays cancelled";
const BEFORE: &str = "a session that is cancelled before its start has no outcome";
const LET_GO: &str = "a released session leaves no record and runs again";
const END_TWICE: &str = "the end of a run can be reported twice";
const AFTER_END: &str = "a session with an outcome returns it after the end";
const NOTHING_BEGINS: &str = "no session starts after the end";
const NO_END: &str = "a caller with an older epoch does not end the run";
const NEEDS_NONE: &str = "a run that has not started needs no end";
const END_WAITS: &str = "the end waits for a running session";

/// Asserts that hosts with a fault fail exactly these checks.
async fn finds(fault: Fault, checks: &[&str]) {
    let report = session_host(async |host_project| FaultyHost::around(fault, host_project)).await;

    let failures = report.failures().iter();
    let failed: Vec<&str> = failures.map(|failure| failure.check.as_str()).collect();
    assert_eq!((fault, &failed[..]), (fault, checks), "{report}");
}

#[tokio::test(start_paused = true)]
async fn a_host_without_a_fault_conforms() {
    finds(Fault::Nothing, &[]).await;
}

#[tokio::test(start_paused = true)]
async fn faults_of_records_are_found() {
    let checks = [RERUN, RECORDED, NO_RECORD, CANCELLED, AFTER_END, END_WAITS];
    finds(Fault::RerunsSessions, &checks).await;
    let everywhere = [
        RERUN,
        RECORDED,
        TWO,
        LEDGER,
        OLDER,
        NO_RECORD,
        NO_WRITING,
        NO_CHANGE,
        NO_WAIT,
        WAITS,
        CANCELLED,
        AFTER_END,
        NOTHING_BEGINS,
        NO_END,
        END_WAITS,
    ];
    finds(Fault::UsesOwnFolder, &everywhere).await;
    let numbers = "each session of a run has its own outcome";
    let mixed_up = [numbers, WAITS, NOTHING_BEGINS, NO_END];
    finds(Fault::MixesUpSessions, &mixed_up).await;
}

#[tokio::test(start_paused = true)]
async fn faults_of_takeovers_are_found() {
    finds(Fault::TakesOldEpochs, &[OLDER, NO_RECORD, NO_WRITING]).await;
    finds(Fault::WritesWhenOvertaken, &[NO_WRITING]).await;
    let claims = [NO_WRITING, NO_CHANGE, NO_WAIT];
    finds(Fault::TakesOverWithAClaim, &claims).await;
    finds(Fault::BlocksReads, &[NO_WAIT]).await;
}

#[tokio::test(start_paused = true)]
async fn faults_of_endings_are_found() {
    finds(Fault::IgnoresCancellations, &[CANCELLED, BEFORE]).await;
    finds(Fault::ForgetsCancellations, &[CANCELLED]).await;
    finds(Fault::StartsCancelledSessions, &[BEFORE]).await;
    finds(Fault::CancelsDroppedSessions, &[LET_GO]).await;
    finds(Fault::ContinuesDroppedSessions, &[LET_GO]).await;
}

#[tokio::test(start_paused = true)]
async fn faults_of_the_end_of_a_run_are_found() {
    finds(Fault::TakesTheEndOnce, &[END_TWICE]).await;
    finds(Fault::ForgetsWithTheEnd, &[AFTER_END, END_WAITS]).await;
    finds(Fault::BeginsAfterTheEnd, &[NOTHING_BEGINS]).await;
    finds(Fault::TakesOldEnds, &[NO_END]).await;
    finds(Fault::EndsWhenOvertaken, &[NO_END]).await;
    finds(Fault::EndsUnstartedSessions, &[NEEDS_NONE]).await;
    finds(Fault::DoesNotWaitToEnd, &[END_WAITS]).await;
}

#[tokio::test(start_paused = true)]
async fn faults_of_reporting_are_found() {
    let works = "a host reports that it works";
    finds(Fault::SendsNoProgress, &[works, WAITS]).await;
    let messages = "messages of operators reach the agent";
    finds(Fault::ForgetsMessages, &[messages]).await;
    finds(Fault::HidesTheLedger, &[LEDGER]).await;
}
