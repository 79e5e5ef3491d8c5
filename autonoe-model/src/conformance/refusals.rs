//! Calls that fail before anything is said.

use std::time::Duration;

use autonoe_testkit::conformance::{Checks, Finding, Flaw};
use jiff::{SignedDuration, Timestamp};

use super::answers::request;
use super::heard::{Ear, impossible};
use super::{AskedWait, ModelHarness, NotStaged, Scenario};
use crate::contract::{ModelError, ModelErrorCode};

pub(super) async fn check(checks: &mut Checks, ear: &Ear<'_>, harness: &dyn ModelHarness) {
    for code in ModelErrorCode::ALL {
        checks
            .run(&format!("a failure is told as {code}"), async {
                is_told_as(ear, harness, code).await
            })
            .await;
    }
    let table = [
        (
            "a page in the place of an answer is no answer",
            Scenario::Page { status: 200 },
            ModelErrorCode::InvalidResponse,
        ),
        (
            "a page of a gateway that fails is a failure of the network",
            Scenario::Page { status: 502 },
            ModelErrorCode::NetworkError,
        ),
        (
            "a connection that is closed without a word is a failure of the network",
            Scenario::HangsUp,
            ModelErrorCode::NetworkError,
        ),
        (
            "a provider that says nothing is not waited for without an end",
            Scenario::SaysNothing,
            ModelErrorCode::Timeout,
        ),
    ];
    for (check, scenario, code) in table {
        checks
            .run(check, async {
                let heard = ear.play(&scenario, &request()).await?;
                has_code(heard.error()?, code)
            })
            .await;
    }
    waits(checks, ear).await;
}

/// A failure of the configuration is told when the client is made, others when it is asked.
async fn is_told_as(ear: &Ear<'_>, harness: &dyn ModelHarness, code: ModelErrorCode) -> Finding {
    let scenario = Scenario::Refuses { code };
    match ear.within(harness.stage(&scenario)).await? {
        Err(NotStaged::Impossible) => Err(impossible()),
        Err(NotStaged::Failed(error)) => {
            is_silent_about(&error, harness.key())?;
            has_code(&error, code)
        }
        Ok(stage) => {
            let heard = ear.hear(&scenario, &*stage, &request()).await?;
            has_code(heard.error()?, code)
        }
    }
}

async fn waits(checks: &mut Checks, ear: &Ear<'_>) {
    checks
        .run("no wait is made up", async {
            let wait = waits_for(ear, None).await?;
            ensure!(wait.is_none(), "nobody asked to wait for {wait:?}");
            Ok(())
        })
        .await;
    checks
        .run("a wait of so many seconds is told", async {
            let wait = waits_for(ear, Some(AskedWait::Seconds(17))).await?;
            ensure!(
                wait == Some(Duration::from_secs(17)),
                "it told {wait:?} and not 17 s"
            );
            Ok(())
        })
        .await;
    checks
        .run("a wait until a date is told", async {
            let asked = Duration::from_secs(3_600);
            let from_now = SignedDuration::try_from(asked).unwrap_or_default();
            let until = AskedWait::Until(Timestamp::now() + from_now);
            let wait = waits_for(ear, Some(until)).await?;
            // It takes a while until the answer is there, and a date has no fractions.
            let least = asked.saturating_sub(Duration::from_secs(60));
            let fits = wait.is_some_and(|wait| (least..=asked).contains(&wait));
            ensure!(fits, "it told {wait:?} and not about {asked:?}");
            Ok(())
        })
        .await;
}

async fn waits_for(ear: &Ear<'_>, wait: Option<AskedWait>) -> Finding<Option<Duration>> {
    let heard = ear.play(&Scenario::Limits { wait }, &request()).await?;
    let error = heard.error()?;
    has_code(error, ModelErrorCode::RateLimited)?;
    Ok(error.retry_after)
}

pub(super) fn has_code(error: &ModelError, code: ModelErrorCode) -> Finding {
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

/// Looks that a key is not in an error, in whatever way it is printed.
pub(super) fn is_silent_about(error: &ModelError, key: &str) -> Finding {
    let shown = format!("{error} {error:?}");
    match shown.contains(key) {
        true => Err(Flaw::Failed(format!(
            "the key is in {:?}",
            shown.replace(key, "<key>")
        ))),
        false => Ok(()),
    }
}
