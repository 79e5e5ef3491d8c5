//! What a status means where the body does not say more.

use crate::contract::ModelErrorCode;

/// Returns what a status means where the body does not say more.
pub(crate) fn status_code_of(status: u16) -> ModelErrorCode {
    match status {
        401..=403 => ModelErrorCode::AuthenticationError,
        404 => ModelErrorCode::ModelNotFound,
        408 | 504 => ModelErrorCode::Timeout,
        // Fewer words may pass.
        413 => ModelErrorCode::ContextLengthExceeded,
        429 | 529 => ModelErrorCode::RateLimited,
        500..=599 => ModelErrorCode::NetworkError,
        _ => ModelErrorCode::Unknown,
    }
}
