//! [`BackendProbe`] of agents on a model for the operator. Sends no request.

use autonoe_core::{BackendProbe, Credentials, ProbeFinding, SpecContext};

use super::ModelBackend;
use crate::agent::ModelAgentOptions;
use crate::contract::ModelIdentity;

/// Probes the key, the model and the requirements of the sandbox of commands.
pub(super) fn probe_backend(spec: &ModelBackend, context: &SpecContext) -> BackendProbe {
    let found = BackendProbe::new(ModelBackend::TAG).with_default_model(Some(&spec.model));
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
                "there is one, or none is needed; nobody was asked",
            ))
            .finding(model(spec, &options))
            .finding(sandbox(&options)),
    }
}

fn model(spec: &ModelBackend, options: &ModelAgentOptions) -> ProbeFinding {
    const NAME: &str = "model";
    let model = &options.model;
    let context = options.limits.of(model).context;
    let known = format!("{model}, with {context} tokens of context");
    let identity = ModelIdentity::new(spec.provider_name(), model);
    match options.prices.price(&identity) {
        Some(_) => ProbeFinding::good(NAME, known),
        None => ProbeFinding::warning(
            NAME,
            format!("{known}; its price is not known, so that no --max-cost can be kept"),
            "add it to `prices` in .autonoe/models.json",
        ),
    }
}

fn sandbox(options: &ModelAgentOptions) -> ProbeFinding {
    const NAME: &str = "sandbox";
    let tried = options.built_in.as_ref().map(|tools| tools.try_sandbox());
    match tried {
        Some(Err(error)) => ProbeFinding::problem(NAME, error.to_string(), error.remedy()),
        _ => ProbeFinding::good(NAME, "bwrap is there and works"),
    }
}
