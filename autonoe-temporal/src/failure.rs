//! What lies behind a failure that the server tells.

use temporalio_common::protos::temporal::api::failure::v1::Failure;

/// Returns what is at the bottom of a failure; what is above only says that something is below.
pub(crate) fn reason(mut failure: &Failure) -> String {
    while let Some(cause) = &failure.cause {
        failure = cause;
    }
    failure.message.clone()
}
