//! Probe of the backend spec: key, model and sandbox. Sends no request.

use autonoe_core::agent::{BackendProbe, Credentials, ProbeFinding};
use autonoe_core::spec::SpecContext;

use super::ModelSpec;
use crate::agent::ModelAgentOptions;
use crate::contract::ModelIdentity;

/// Probes the key, the model and the requirements of the commands' sandbox.
pub(super) fn probe_backend(spec: &ModelSpec, context: &SpecContext) -> BackendProbe {
    let found = BackendProbe::new(ModelSpec::TAG).with_default_model(Some(&spec.model));
    match spec.options(context) {
        Err(error) => {
            let remedy = "see docs/guides/models.md";
            let found = found.with_credentials(Credentials::Unknown);
            found.finding(ProbeFinding::problem("key", error.to_string(), remedy))
        }
        Ok(options) => found
            .with_credentials(Credentials::Found)
            .finding(ProbeFinding::good(
                "key",
                "a key is configured, or none is needed; it was not tested with the provider",
            ))
            .finding(model(spec, &options))
            .finding(sandbox(&options)),
    }
}

fn model(spec: &ModelSpec, options: &ModelAgentOptions) -> ProbeFinding {
    const NAME: &str = "model";
    let model = &options.model;
    let context = options.limits.for_model(model).context;
    let known = format!("{model}, with {context} tokens of context");
    let identity = ModelIdentity::new(spec.provider_name(), model);
    match options.prices.price(&identity) {
        Some(_) => ProbeFinding::good(NAME, known),
        None => ProbeFinding::warning(
            NAME,
            format!("{known}; its price is unknown, so --max-cost cannot be enforced"),
            "add it to `prices` in .autonoe/models.json",
        ),
    }
}

fn sandbox(options: &ModelAgentOptions) -> ProbeFinding {
    const NAME: &str = "sandbox";
    let tried = options.built_in.as_ref().map(|tools| tools.try_sandbox());
    match tried {
        Some(Err(error)) => ProbeFinding::problem(NAME, error.to_string(), error.remedy()),
        _ => ProbeFinding::good(NAME, "bwrap is installed and works"),
    }
}
