//! The settings of a run, each with where it comes from.

use autonoe_core::{
    Budget, ConfigLine, Destructive, OnQuota, RunLimits, RunPreview, Source, format_duration,
};
use schemars::JsonSchema;
use serde::Serialize;

use crate::args::Work;

/// One value, with where it comes from.
#[derive(Debug, Serialize, JsonSchema)]
pub(crate) struct Setting {
    /// Its name; a list has one setting per entry.
    pub(super) key: String,
    /// Its value, for people.
    pub(super) value: String,
    /// Where it comes from, for people.
    pub(super) source: String,
}

impl Setting {
    fn new(key: &str, value: impl Into<String>, source: &Source) -> Self {
        Self {
            key: key.to_owned(),
            value: value.into(),
            source: source.to_string(),
        }
    }
}

/// Lists what the command line says, and then what the project's file and the baseline say.
pub(super) fn settings(work: &Work<'_>, preview: &RunPreview) -> Vec<Setting> {
    let mut settings = match &preview.resumes {
        None => given_limits(work),
        Some(resumed) => recorded_limits(&resumed.limits),
    };
    let models = work.agent.models();
    for (key, model) in [
        ("model", models.implementation),
        ("planModel", models.planning),
    ] {
        settings.extend(model.map(|model| Setting::new(key, model, &Source::Flag)));
    }
    if let Some(thinking) = work.agent.thinking {
        let value = format!("{} tokens", thinking.tokens());
        settings.push(Setting::new("thinking", value, &Source::Flag));
    }
    let (destructive, source) = match work.destructive {
        Destructive::Allowed => ("allowed", Source::Flag),
        Destructive::Forbidden => ("forbidden", Source::Default),
    };
    settings.push(Setting::new("destructive", destructive, &source));
    let lines = preview.config.explain().iter();
    settings.extend(lines.map(|line| {
        let ConfigLine {
            key, value, source, ..
        } = line;
        Setting::new(key, value, source)
    }));
    settings
}

/// Lists the limits that the command line gives to a new run.
fn given_limits(work: &Work<'_>) -> Vec<Setting> {
    let agent = work.agent;
    let given = RunLimits {
        max_iterations: agent.max_iterations,
        max_retries: agent.max_retries,
        on_quota: match agent.wait_for_quota {
            true => OnQuota::Wait,
            false => OnQuota::Stop,
        },
        budget: agent.budget(),
        ..RunLimits::new(work.mode)
    };
    let defaults = limits(&RunLimits::new(work.mode));
    let pairs = limits(&given).into_iter().zip(defaults);
    pairs
        .map(|((key, value), (_, default))| {
            let source = match value == default {
                true => Source::Default,
                false => Source::Flag,
            };
            Setting::new(key, value, &source)
        })
        .collect()
}

/// Lists the limits that a run was started with, which count when it goes on.
fn recorded_limits(recorded: &RunLimits) -> Vec<Setting> {
    limits(recorded)
        .into_iter()
        .map(|(key, value)| Setting {
            key: key.to_owned(),
            value,
            source: "journal".to_owned(),
        })
        .collect()
}

fn limits(limits: &RunLimits) -> [(&'static str, String); 5] {
    let unlimited = || "unlimited".to_owned();
    let Budget { cost_usd, time, .. } = limits.budget;
    let on_quota = match limits.on_quota {
        OnQuota::Stop => "stop",
        OnQuota::Wait => "wait",
    };
    let iterations = limits.max_iterations.map(|max| max.to_string());
    let cost = cost_usd.map(|cost| cost.to_string());
    [
        ("maxIterations", iterations.unwrap_or_else(unlimited)),
        ("maxRetries", limits.max_retries.to_string()),
        ("onQuota", on_quota.to_owned()),
        ("maxCost", cost.unwrap_or_else(unlimited)),
        ("maxTime", time.map_or_else(unlimited, format_duration)),
    ]
}
