//! The protocol as it is used here: what is sent in the types of the `agent-client-protocol`
//! crate, what comes as it came.

mod mcp_servers;
mod messages;
mod permission;
mod update;

pub(crate) use mcp_servers::{mcp_servers, speaks_http};
pub(crate) use messages::{AskedPermission, SessionUpdate};
pub(crate) use permission::{Answer, Permission};
pub(crate) use update::{CallNews, CallStatus, Update, is_about};
