//! [`Permission`], a request for permission to use a tool, and its responses.

use agent_client_protocol::v1::schema::{
    RequestPermissionOutcome, RequestPermissionResponse, SelectedPermissionOutcome,
};
use serde_json::Value;

use super::update::CallUpdate;

/// A request for permission to use a tool.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Permission {
    /// The call; `None` if the request does not identify one.
    pub(crate) call: Option<CallUpdate>,
    /// The option that allows this call and no other.
    allow_once: Option<String>,
    /// The option that refuses this call and no other.
    reject_once: Option<String>,
}

/// The answer to a permission request.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Answer {
    /// The call is allowed. Only this one: an agent does not ask again about a permanent
    /// permission.
    Allow,
    /// The call is denied.
    Reject,
}

impl Permission {
    /// Reads the parameters of a `session/request_permission`.
    pub(crate) fn parse(params: &Value) -> Self {
        let options = || params["options"].as_array().into_iter().flatten();
        let ids = || options().filter_map(|option| option["optionId"].as_str());
        // An id that is used by two options is ambiguous.
        let is_certain =
            |id: &str| !id.is_empty() && ids().filter(|other| *other == id).count() == 1;
        let id_of = |kind: &str| {
            let offered = options().filter(|option| option["kind"] == kind);
            let mut ids = offered.filter_map(|option| option["optionId"].as_str());
            ids.find(|id| is_certain(id)).map(str::to_owned)
        };
        Self {
            call: CallUpdate::parse(&params["toolCall"]),
            allow_once: id_of("allow_once"),
            reject_once: id_of("reject_once"),
        }
    }

    /// Returns whether one call can be allowed without allowing others.
    pub(crate) fn can_allow_once(&self) -> bool {
        self.allow_once.is_some()
    }

    /// Creates the response. If the agent does not offer the option, the request is cancelled,
    /// which allows nothing.
    pub(crate) fn response(&self, answer: Answer) -> RequestPermissionResponse {
        let option = match answer {
            Answer::Allow => &self.allow_once,
            Answer::Reject => &self.reject_once,
        };
        let outcome = match option {
            Some(id) => {
                let selected = SelectedPermissionOutcome::new(id.clone());
                RequestPermissionOutcome::Selected(selected)
            }
            None => RequestPermissionOutcome::Cancelled,
        };
        RequestPermissionResponse::new(outcome)
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn permission(kinds: &[&str]) -> Permission {
        let options = kinds
            .iter()
            .map(|kind| json!({"optionId": format!("id-{kind}"), "name": kind, "kind": kind}));
        let options: Vec<_> = options.collect();
        Permission::parse(&json!({"options": options, "toolCall": {"toolCallId": "c"}}))
    }

    #[test]
    fn no_permission_is_permanent() {
        let all = ["allow_always", "allow_once", "reject_always", "reject_once"];
        let always = ["allow_always", "reject_always"];
        let selected = |id: &str| json!({"outcome": {"outcome": "selected", "optionId": id}});
        let cancelled = json!({"outcome": {"outcome": "cancelled"}});
        for (offered, answer, expected) in [
            (&all[..], Answer::Allow, selected("id-allow_once")),
            (&all[..], Answer::Reject, selected("id-reject_once")),
            (&always[..], Answer::Allow, cancelled.clone()),
            (&always[..], Answer::Reject, cancelled.clone()),
            (&[], Answer::Allow, cancelled),
        ] {
            let response = permission(offered).response(answer);

            assert_eq!(serde_json::to_value(response).expect("JSON"), expected);
        }
    }

    #[test]
    fn an_ambiguous_option_id_is_not_used() {
        for (kinds, answer) in [
            (["allow_once", "allow_always"], Answer::Allow),
            (["allow_always", "allow_once"], Answer::Allow),
            (["reject_once", "allow_once"], Answer::Reject),
        ] {
            let options = kinds.map(|kind| json!({"optionId": "x", "name": kind, "kind": kind}));
            let asked = Permission::parse(&json!({"options": options}));

            let response = serde_json::to_value(asked.response(answer)).expect("JSON");

            assert_eq!(response, json!({"outcome": {"outcome": "cancelled"}}));
        }
    }

    #[test]
    fn a_request_without_a_call_is_parsed() {
        let permission = Permission::parse(&json!("nonsense"));

        assert_eq!(permission.call, None);
        assert!(!permission.can_allow_once());
    }
}
