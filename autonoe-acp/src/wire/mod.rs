//! Messages of the protocol: outgoing ones in the types of the `agent-client-protocol` crate,
//! incoming ones as JSON.

mod mcp_servers;
mod messages;
mod permission;
mod update;

pub(crate) use mcp_servers::{mcp_servers, supports_http};
pub(crate) use messages::{PermissionRequest, SessionUpdate};
pub(crate) use permission::{Answer, Permission};
pub(crate) use update::{CallStatus, CallUpdate, Update, is_about};
