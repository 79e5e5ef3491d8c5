//! Base64 encoding of attachments.

use autonoe_core::tool::Attachment;
use base64::Engine;
use base64::engine::general_purpose::STANDARD;

/// Returns the content of an attachment as base64.
pub(crate) fn base64(attachment: &Attachment) -> String {
    STANDARD.encode(&attachment.data)
}
