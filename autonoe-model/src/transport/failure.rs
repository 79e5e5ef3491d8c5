//! Mapping of connection failures to model errors.

use std::error::Error;
use std::io::ErrorKind;
use std::iter::successors;

use super::connector::ConnectTimedOut;
use super::connector::TunnelError;
use crate::contract::{ModelError, ModelErrorCode};

/// Converts the failure of a request to `host`.
pub(super) fn request_error(error: &(dyn Error + 'static), host: &str) -> ModelError {
    let cause = root_cause(error);
    if let Some(no_tunnel) = find::<TunnelError>(error) {
        return of_proxy(no_tunnel, error, host);
    }
    if let Some(tls) = find::<rustls::Error>(error) {
        return of_encryption(tls, host);
    }
    let code = code_of(error);
    let message = match code {
        ModelErrorCode::InvalidResponse => format!("{host} did not answer in HTTP: {cause}"),
        _ => format!("{host} cannot be reached: {cause}"),
    };
    ModelError::new(code, message)
}

/// Converts the failure of a proxy to open a tunnel to `host`.
fn of_proxy(no_tunnel: &TunnelError, error: &(dyn Error + 'static), host: &str) -> ModelError {
    let proxy = format!("the proxy on the way to {host}");
    match no_tunnel {
        TunnelError::Refused(407) => {
            let message = format!("{proxy} rejects the credentials (status 407)");
            ModelError::new(ModelErrorCode::AuthenticationError, message).with_status(407)
        }
        TunnelError::Refused(status) => {
            let code = match status {
                408 | 504 => ModelErrorCode::Timeout,
                429 => ModelErrorCode::RateLimited,
                500 | 502 | 503 => ModelErrorCode::NetworkError,
                // The proxy refuses, and a retry would not help.
                _ => ModelErrorCode::ProviderNotConfigured,
            };
            let message = format!("{proxy} refused the tunnel (status {status})");
            ModelError::new(code, message).with_status(*status)
        }
        TunnelError::NoHttp => {
            let message = format!("{proxy} did not answer in HTTP");
            ModelError::new(ModelErrorCode::ProviderNotConfigured, message)
        }
        TunnelError::Unreachable(_) => {
            let message = format!("{proxy} cannot be reached: {}", root_cause(error));
            ModelError::new(code_of(error), message)
        }
        TunnelError::Disconnected(_) => {
            let message = format!("{proxy} closed the connection: {}", root_cause(error));
            ModelError::new(code_of(error), message)
        }
    }
}

/// Converts the failure of an encrypted connection to `host`. Most of these persist until the
/// configuration changes.
fn of_encryption(error: &rustls::Error, host: &str) -> ModelError {
    use rustls::AlertDescription as Alert;
    use rustls::Error as Tls;
    let (code, message) = match error {
        Tls::InvalidCertificate(_) => (
            ModelErrorCode::ProviderNotConfigured,
            format!(
                "the certificate of {host} is not trusted ({error}); add your own certificate \
                 authority to `trust`"
            ),
        ),
        Tls::AlertReceived(Alert::InternalError | Alert::CloseNotify | Alert::UserCanceled) => (
            ModelErrorCode::NetworkError,
            format!("{host} closed the connection: {error}"),
        ),
        Tls::AlertReceived(Alert::CertificateRequired | Alert::AccessDenied) => (
            ModelErrorCode::AuthenticationError,
            format!("{host} requires a client certificate: {error}"),
        ),
        _ => (
            ModelErrorCode::InvalidResponse,
            format!("the connection to {host} cannot be encrypted: {error}"),
        ),
    };
    ModelError::new(code, message)
}

/// Returns the error for an incomplete answer of `host`.
pub(super) fn body_error(error: &(dyn Error + 'static), host: &str) -> ModelError {
    let code = match code_of(error) {
        ModelErrorCode::Timeout => ModelErrorCode::Timeout,
        _ => ModelErrorCode::NetworkError,
    };
    let cause = root_cause(error);
    ModelError::new(code, format!("the answer of {host} is incomplete: {cause}"))
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

/// Returns the root cause. It contains no URL.
fn root_cause(error: &(dyn Error + 'static)) -> String {
    let root = causes(error).last();
    root.map(ToString::to_string).unwrap_or_default()
}

fn find<'a, E: Error + 'static>(error: &'a (dyn Error + 'static)) -> Option<&'a E> {
    causes(error).find_map(<dyn Error>::downcast_ref)
}

fn causes<'a>(error: &'a (dyn Error + 'static)) -> impl Iterator<Item = &'a (dyn Error + 'static)> {
    successors(Some(error), |&error| {
        // An I/O error that wraps another error returns the inner error's source, and not the inner
        // error itself.
        let held = error
            .downcast_ref::<std::io::Error>()
            .and_then(std::io::Error::get_ref);
        match held {
            Some(held) => Some(held as &(dyn Error + 'static)),
            None => error.source(),
        }
    })
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
            let (of_request, of_body) = (request_error(&cause, "host"), body_error(&cause, "host"));
            assert_eq!((of_request.code, of_body.code), (code, code), "{cause:?}");
        }
    }

    #[test]
    fn tls_failures_are_retried_only_if_that_may_help() {
        use rustls::{AlertDescription, CertificateError, InvalidMessage, PeerIncompatible};
        let unknown = CertificateError::UnknownIssuer;
        let old = PeerIncompatible::Tls12NotOfferedOrEnabled;
        #[rustfmt::skip]
        let table = [
            (rustls::Error::InvalidCertificate(unknown), ModelErrorCode::ProviderNotConfigured, "to `trust`"),
            (rustls::Error::InvalidCertificate(CertificateError::Expired), ModelErrorCode::ProviderNotConfigured, "expired"),
            (rustls::Error::InvalidMessage(InvalidMessage::InvalidContentType), ModelErrorCode::InvalidResponse, "encrypted"),
            (rustls::Error::PeerIncompatible(old), ModelErrorCode::InvalidResponse, "encrypted"),
            (rustls::Error::AlertReceived(AlertDescription::ProtocolVersion), ModelErrorCode::InvalidResponse, "encrypted"),
            (rustls::Error::AlertReceived(AlertDescription::CertificateRequired), ModelErrorCode::AuthenticationError, "certificate"),
            (rustls::Error::AlertReceived(AlertDescription::InternalError), ModelErrorCode::NetworkError, "closed the connection"),
        ];
        for (cause, code, words) in table {
            let twice = io::Error::other(io::Error::new(ErrorKind::InvalidData, cause.clone()));

            let error = request_error(&Outer(twice.into()), "api.example.org");

            assert_eq!(error.code, code, "{cause}");
            assert!(error.message.contains("api.example.org"), "{error}");
            assert!(error.message.to_lowercase().contains(words), "{error}");
        }
    }

    #[test]
    fn a_refusal_by_a_proxy_is_not_retried() {
        let refused = |status| Outer(TunnelError::Refused(status).into());
        let broken = Outer(TunnelError::Disconnected(ErrorKind::UnexpectedEof.into()).into());
        let late = TunnelError::Unreachable(Box::new(io::Error::from(ErrorKind::TimedOut)));
        for (cause, code) in [
            (refused(407), ModelErrorCode::AuthenticationError),
            (refused(401), ModelErrorCode::ProviderNotConfigured),
            (refused(403), ModelErrorCode::ProviderNotConfigured),
            (refused(405), ModelErrorCode::ProviderNotConfigured),
            (refused(501), ModelErrorCode::ProviderNotConfigured),
            (refused(429), ModelErrorCode::RateLimited),
            (refused(502), ModelErrorCode::NetworkError),
            (refused(503), ModelErrorCode::NetworkError),
            (refused(504), ModelErrorCode::Timeout),
            (
                Outer(TunnelError::NoHttp.into()),
                ModelErrorCode::ProviderNotConfigured,
            ),
            (broken, ModelErrorCode::NetworkError),
            (Outer(late.into()), ModelErrorCode::Timeout),
        ] {
            let error = request_error(&cause, "api.example.org");

            assert_eq!(error.code, code, "{cause:?}");
            assert!(
                error
                    .message
                    .starts_with("the proxy on the way to api.example.org ")
            );
        }
    }

    #[test]
    fn transport_failure_names_the_address_and_the_cause() {
        let error = request_error(&Outer("nobody is there".into()), "api.example.org");

        let expected = "api.example.org cannot be reached: nobody is there";
        assert_eq!(error.message, expected);
    }
}
