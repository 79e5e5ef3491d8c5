//! Checks of incomplete answers.

use autonoe_testkit::conformance::{CheckOutcome, Checks};

use super::answers::{TEXT, request};
use super::failed_calls::has_code;
use super::recorded_answer::Recorder;
use super::{BrokenStream, ProviderScenario};
use crate::contract::ModelErrorCode;

pub(super) async fn check(checks: &mut Checks, recorder: &Recorder<'_>) {
    let table = [
        (
            "a cut stream is an error",
            BrokenStream::Cut,
            ModelErrorCode::NetworkError,
        ),
        (
            "a stream without the protocol's end marker is an error",
            BrokenStream::Ends,
            ModelErrorCode::NetworkError,
        ),
        (
            "a malformed stream is an error",
            BrokenStream::Malformed,
            ModelErrorCode::InvalidResponse,
        ),
        (
            "a stream that falls silent times out",
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
