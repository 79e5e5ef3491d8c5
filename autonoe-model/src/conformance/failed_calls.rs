//! Checks of calls that fail before the first event.

use std::time::Duration;

use autonoe_testkit::conformance::{CheckOutcome, Checks, Flaw};
use jiff::{SignedDuration, Timestamp};

use super::answers::request;
use super::recorded_answer::{Recorder, impossible};
use super::{ModelHarness, NotStaged, ProviderScenario, RequestedDelay};
use crate::contract::{ModelError, ModelErrorCode};

pub(super) async fn check(
    checks: &mut Checks,
    recorder: &Recorder<'_>,
    harness: &dyn ModelHarness,
) {
    for code in ModelErrorCode::ALL {
        checks
            .run(&format!("a failure is reported as {code}"), async {
                reports_error_code(recorder, harness, code).await
            })
            .await;
    }
    let table = [
        (
            "an HTML page instead of an answer is an error",
            ProviderScenario::Page { status: 200 },
            ModelErrorCode::InvalidResponse,
        ),
        (
            "a page of a gateway that fails is a failure of the network",
            ProviderScenario::Page { status: 502 },
            ModelErrorCode::NetworkError,
        ),
        (
            "a connection that is closed without a word is a failure of the network",
            ProviderScenario::HangsUp,
            ModelErrorCode::NetworkError,
        ),
        (
            "a silent provider times out",
            ProviderScenario::Hangs,
            ModelErrorCode::Timeout,
        ),
    ];
    for (check, scenario, code) in table {
        checks
            .run(check, async {
                let recorded = recorder.play(&scenario, &request()).await?;
                has_code(recorded.error()?, code)
            })
            .await;
    }
    waits(checks, recorder).await;
}

/// Errors of the configuration occur when the client is created, others when it is called.
async fn reports_error_code(
    recorder: &Recorder<'_>,
    harness: &dyn ModelHarness,
    code: ModelErrorCode,
) -> CheckOutcome {
    let scenario = ProviderScenario::Refuses { code };
    match recorder.within(harness.stage(&scenario)).await? {
        Err(NotStaged::Impossible) => Err(impossible()),
        Err(NotStaged::Failed(error)) => {
            does_not_contain(&error, harness.key())?;
            has_code(&error, code)
        }
        Ok(stage) => {
            let recorded = recorder.record(&scenario, &*stage, &request()).await?;
            has_code(recorded.error()?, code)
        }
    }
}

async fn waits(checks: &mut Checks, recorder: &Recorder<'_>) {
    checks
        .run("no delay is invented", async {
            let wait = waits_for(recorder, None).await?;
            ensure!(
                wait.is_none(),
                "it reported an unrequested delay of {wait:?}"
            );
            Ok(())
        })
        .await;
    checks
        .run("a retry delay in seconds is reported", async {
            let wait = waits_for(recorder, Some(RequestedDelay::Seconds(17))).await?;
            ensure!(
                wait == Some(Duration::from_secs(17)),
                "it reported {wait:?} and not 17 s"
            );
            Ok(())
        })
        .await;
    checks
        .run("a retry date is reported", async {
            let requested = Duration::from_secs(3_600);
            let from_now = SignedDuration::try_from(requested).unwrap_or_default();
            let until = RequestedDelay::Until(Timestamp::now() + from_now);
            let wait = waits_for(recorder, Some(until)).await?;
            // The answer takes a while, and HTTP dates have no fractions of seconds.
            let least = requested.saturating_sub(Duration::from_secs(60));
            let fits = wait.is_some_and(|wait| (least..=requested).contains(&wait));
            ensure!(fits, "it reported {wait:?} and not about {requested:?}");
            Ok(())
        })
        .await;
}

async fn waits_for(
    recorder: &Recorder<'_>,
    wait: Option<RequestedDelay>,
) -> CheckOutcome<Option<Duration>> {
    let recorded = recorder
        .play(&ProviderScenario::Limits { wait }, &request())
        .await?;
    let error = recorded.error()?;
    has_code(error, ModelErrorCode::RateLimited)?;
    Ok(error.retry_after)
}

pub(super) fn has_code(error: &ModelError, code: ModelErrorCode) -> CheckOutcome {
    ensure!(
        error.code == code,
        "it is {}, not {code}: {error:?}",
        error.code
    );
    ensure!(
        !error.message.trim().is_empty(),
        "it has no words: {error:?}"
    );
    Ok(())
}

/// Checks that a key is in neither format of an error.
pub(super) fn does_not_contain(error: &ModelError, key: &str) -> CheckOutcome {
    let printed = format!("{error} {error:?}");
    if printed.contains(key) {
        Err(Flaw::Failed(format!(
            "the key is in {:?}",
            printed.replace(key, "<key>")
        )))
    } else {
        Ok(())
    }
}
