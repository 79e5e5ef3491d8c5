//! Checks of incomplete answers.

use autonoe_testkit::conformance::{CheckOutcome, Checks};

use super::answers::{TEXT, request};
use super::recorded_answer::Recorder;
use super::refusals::has_code;
use super::{BrokenStream, ProviderScenario};
use crate::contract::ModelErrorCode;

pub(super) async fn check(checks: &mut Checks, recorder: &Recorder<'_>) {
    let table = [
        (
            "a stream that is cut is no answer",
            BrokenStream::Cut,
            ModelErrorCode::NetworkError,
        ),
        (
            "a stream without the protocol's end is no answer",
            BrokenStream::Ends,
            ModelErrorCode::NetworkError,
        ),
        (
            "a stream that makes no sense is no answer",
            BrokenStream::Malformed,
            ModelErrorCode::InvalidResponse,
        ),
        (
            "a stream that falls silent is not waited for without an end",
            BrokenStream::Silent,
            ModelErrorCode::Timeout,
        ),
    ];
    for (check, kind, code) in table {
        checks.run(check, breaks(recorder, kind, code)).await;
    }
    for code in [ModelErrorCode::RateLimited, ModelErrorCode::NetworkError] {
        let check = format!("an error inside a stream is reported as {code}");
        let kind = BrokenStream::Fails { code };
        checks.run(&check, breaks(recorder, kind, code)).await;
    }
}

async fn breaks(recorder: &Recorder<'_>, kind: BrokenStream, code: ModelErrorCode) -> CheckOutcome {
    let text = TEXT.to_owned();
    let recorded = recorder
        .play(&ProviderScenario::Breaks { text, kind }, &request())
        .await?;
    has_code(recorded.error()?, code)?;
    let streamed = recorded.texts().concat();
    ensure!(
        !streamed.is_empty() && TEXT.starts_with(&streamed),
        "before that it streamed {streamed:?}"
    );
    Ok(())
}
