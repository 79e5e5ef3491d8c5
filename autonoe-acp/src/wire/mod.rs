//! Messages of the protocol: outgoing ones in the types of the `agent-client-protocol` crate,
//! incoming ones as JSON.

mod mcp_servers;
mod messages;

pub(crate) use mcp_servers::{mcp_servers, supports_http};
pub(crate) use messages::{
    Answer, CallStatus, CallUpdate, Permission, PermissionRequest, SessionUpdate, Update, is_about,
};
