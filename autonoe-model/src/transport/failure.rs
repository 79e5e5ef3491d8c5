//! Failures of a connection become errors.

use std::error::Error;
use std::io::ErrorKind;
use std::iter::successors;

use super::connector::ConnectTimedOut;
use crate::contract::{ModelError, ModelErrorCode};

/// Says what it means that a request to `host` failed.
pub(super) fn of_request(error: &(dyn Error + 'static), host: &str) -> ModelError {
    let code = code_of(error);
    let cause = root_cause(error);
    let message = match code {
        ModelErrorCode::InvalidResponse => format!("{host} does not speak HTTP: {cause}"),
        _ => format!("{host} cannot be reached: {cause}"),
    };
    ModelError::new(code, message)
}

/// Says what it means that an answer of `host` broke off.
pub(super) fn of_body(error: &(dyn Error + 'static), host: &str) -> ModelError {
    let code = match code_of(error) {
        ModelErrorCode::Timeout => ModelErrorCode::Timeout,
        _ => ModelErrorCode::NetworkError,
    };
    let cause = root_cause(error);
    ModelError::new(code, format!("the answer of {host} broke off: {cause}"))
}

fn code_of(error: &(dyn Error + 'static)) -> ModelErrorCode {
    let is_late = |cause: &(dyn Error + 'static)| {
        let system = cause.downcast_ref::<std::io::Error>();
        cause.is::<ConnectTimedOut>()
            || system.is_some_and(|error| error.kind() == ErrorKind::TimedOut)
    };
    let is_no_http = |cause: &(dyn Error + 'static)| {
        let http = cause.downcast_ref::<hyper::Error>();
        http.is_some_and(hyper::Error::is_parse)
    };
    if causes(error).any(is_late) {
        ModelErrorCode::Timeout
    } else if causes(error).any(is_no_http) {
        ModelErrorCode::InvalidResponse
    } else {
        ModelErrorCode::NetworkError
    }
}

/// Returns what everything else follows from. It names no URL.
fn root_cause(error: &(dyn Error + 'static)) -> String {
    let root = causes(error).last();
    root.map(ToString::to_string).unwrap_or_default()
}

fn causes<'a>(error: &'a (dyn Error + 'static)) -> impl Iterator<Item = &'a (dyn Error + 'static)> {
    successors(Some(error), |error| (*error).source())
}

#[cfg(test)]
mod tests {
    use std::io;
    use std::time::Duration;

    use super::*;

    #[derive(Debug, thiserror::Error)]
    #[error("outer")]
    struct Outer(#[source] Box<dyn Error + Send + Sync>);

    #[test]
    fn a_failure_is_known_by_its_cause() {
        let reset = || io::Error::from(ErrorKind::ConnectionReset);
        let timed_out = || io::Error::from(ErrorKind::TimedOut);
        let late = || ConnectTimedOut(Duration::from_secs(10));
        for (cause, code) in [
            (Outer(reset().into()), ModelErrorCode::NetworkError),
            (Outer(timed_out().into()), ModelErrorCode::Timeout),
            (Outer(late().into()), ModelErrorCode::Timeout),
            (Outer("dns error".into()), ModelErrorCode::NetworkError),
        ] {
            let (of_request, of_body) = (of_request(&cause, "host"), of_body(&cause, "host"));
            assert_eq!((of_request.code, of_body.code), (code, code), "{cause:?}");
        }
    }

    #[test]
    fn a_failure_tells_the_place_and_the_cause() {
        let error = of_request(&Outer("nobody is there".into()), "api.example.org");

        let expected = "api.example.org cannot be reached: nobody is there";
        assert_eq!(error.message, expected);
    }
}
