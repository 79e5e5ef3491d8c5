//! Base64 of files that go with the result of a tool.

use autonoe_core::Attachment;
use base64::Engine;
use base64::engine::general_purpose::STANDARD;

/// Returns the bytes of a file as protocols want them.
pub(crate) fn base64(attachment: &Attachment) -> String {
    STANDARD.encode(&attachment.data)
}
