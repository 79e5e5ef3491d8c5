//! Lists and probes the registered backends.

use std::sync::Arc;

use futures::future;
use serde_json::{Value, json};

use crate::agent::BackendProbe;
use crate::spec::{BackendSpec, SpecContext, SpecEntry, SpecPort, registered_specs};

/// Returns the spec of a registered backend with no field except its `type`.
///
/// # Errors
///
/// The backend has required fields, whose names are returned; none if no such backend is
/// registered.
pub fn plain_backend(tag: &str) -> Result<Arc<dyn BackendSpec>, Vec<String>> {
    let specs = registered_specs(SpecPort::Backend);
    let Some(entry) = specs.iter().find(|entry| entry.tag == tag) else {
        return Err(Vec::new());
    };
    let spec: Result<Box<dyn BackendSpec>, _> = serde_json::from_value(json!({"type": tag}));
    spec.map(Into::into).map_err(|_| required_fields(entry))
}

/// Probes every registered backend concurrently and returns the results by tag.
///
/// Each backend is probed without any configured fields; one that has required fields reports their
/// names. `context_of` returns the context for the backend of a tag: an environment without the
/// keys of other backends, for example. A backend without a context is left out.
///
/// ```
/// use std::sync::Arc;
///
/// use autonoe_core::agent::{Availability, BackendProbe, ProbeFinding};
/// use autonoe_core::gate::ProjectPaths;
/// use autonoe_core::spec::{BackendSpec, SpecContext, SpecError, probe_backends};
/// use autonoe_core::AgentClientFactory;
/// use schemars::JsonSchema;
/// use serde::{Deserialize, Serialize};
///
/// /// The agent of our team.
/// #[derive(Debug, Serialize, Deserialize, JsonSchema)]
/// struct TeamAgent {}
///
/// #[typetag::serde(name = "docs-team-agent")]
/// #[async_trait::async_trait]
/// impl BackendSpec for TeamAgent {
///     fn build(&self, _: &SpecContext) -> Result<Arc<dyn AgentClientFactory>, SpecError> {
///         Err(SpecError::new("docs-team-agent", "there is nothing to build"))
///     }
///
///     async fn probe(&self, context: &SpecContext) -> BackendProbe {
///         let has_key = context.environment.keys().any(|name| name == "TEAM_KEY");
///         BackendProbe::new("docs-team-agent").finding(match has_key {
///             true => ProbeFinding::good("key", "TEAM_KEY is set"),
///             false => ProbeFinding::problem("key", "TEAM_KEY is not set", "ask your team"),
///         })
///     }
/// }
///
/// autonoe_core::register_spec!(Backend, TeamAgent, "docs-team-agent", {});
///
/// # fn main() {
/// # futures::executor::block_on(async {
/// let found = probe_backends(|_tag| Some(SpecContext::new(ProjectPaths::new("/srv/project")))).await;
///
/// assert_eq!(found[0].backend, "docs-team-agent");
/// assert_eq!(found[0].availability, Availability::Unavailable);
/// # });
/// # }
/// ```
pub async fn probe_backends(context_of: impl Fn(&str) -> Option<SpecContext>) -> Vec<BackendProbe> {
    let entries = registered_specs(SpecPort::Backend);
    let backends = entries
        .iter()
        .filter_map(|entry| Some((entry.tag, context_of(entry.tag)?)));
    let probes = backends.map(|(tag, context)| async move {
        match plain_backend(tag) {
            Ok(spec) => spec.probe(&context).await,
            Err(fields) => BackendProbe::incomplete(tag, fields),
        }
    });
    future::join_all(probes).await
}

/// Returns the required fields of a spec.
fn required_fields(entry: &SpecEntry) -> Vec<String> {
    let schema = (entry.schema)().to_value();
    let required = schema["required"].as_array();
    let names = required.into_iter().flatten().filter_map(Value::as_str);
    names.map(str::to_owned).collect()
}
