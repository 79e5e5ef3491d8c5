//! [`SessionUpdate`] and [`PermissionRequest`]: messages from the agent, kept as raw JSON.
//!
//! The types of the `agent-client-protocol` crate would refuse a message with a newer kind of
//! update.

use agent_client_protocol::v1::schema::RequestPermissionResponse;
use agent_client_protocol::{
    Error, JsonRpcMessage, JsonRpcNotification, JsonRpcRequest, UntypedMessage,
};
use serde_json::Value;

/// The notification `session/update`.
#[derive(Clone, Debug)]
pub(crate) struct SessionUpdate(pub(crate) Value);

/// The request `session/request_permission`.
#[derive(Clone, Debug)]
pub(crate) struct PermissionRequest(pub(crate) Value);

impl JsonRpcMessage for SessionUpdate {
    fn matches_method(method: &str) -> bool {
        method == "session/update"
    }

    fn method(&self) -> &str {
        "session/update"
    }

    fn to_untyped_message(&self) -> Result<UntypedMessage, Error> {
        UntypedMessage::new(self.method(), &self.0)
    }

    fn parse_message(_method: &str, params: &Value) -> Result<Self, Error> {
        Ok(Self(params.clone()))
    }
}

impl JsonRpcNotification for SessionUpdate {}

impl JsonRpcMessage for PermissionRequest {
    fn matches_method(method: &str) -> bool {
        method == "session/request_permission"
    }

    fn method(&self) -> &str {
        "session/request_permission"
    }

    fn to_untyped_message(&self) -> Result<UntypedMessage, Error> {
        UntypedMessage::new(self.method(), &self.0)
    }

    fn parse_message(_method: &str, params: &Value) -> Result<Self, Error> {
        Ok(Self(params.clone()))
    }
}

impl JsonRpcRequest for PermissionRequest {
    type Response = RequestPermissionResponse;
}
