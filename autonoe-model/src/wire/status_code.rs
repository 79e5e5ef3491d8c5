//! What a status means where the body does not say more.

use crate::contract::ModelErrorCode;

/// Returns what a status means where the body does not say more.
pub(crate) fn status_code_of(status: u16) -> ModelErrorCode {
    match status {
        // Somebody on the way may want a login, too.
        401..=403 | 407 | 511 => ModelErrorCode::AuthenticationError,
        404 => ModelErrorCode::ModelNotFound,
        408 | 504 => ModelErrorCode::Timeout,
        // Fewer words may pass.
        413 => ModelErrorCode::ContextLengthExceeded,
        429 | 529 => ModelErrorCode::RateLimited,
        // What the server cannot do now it cannot do later.
        501 | 505..=510 => ModelErrorCode::Unknown,
        500..=599 => ModelErrorCode::NetworkError,
        _ => ModelErrorCode::Unknown,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_what_may_pass_is_asked_again() {
        let retryable: Vec<u16> = (300..=599)
            .filter(|status| status_code_of(*status).is_retryable())
            .collect();

        let expected = [408, 429, 500, 502, 503, 504].into_iter();
        let expected: Vec<u16> = expected.chain(512..=599).collect();
        assert_eq!(retryable, expected);
    }
}
