//! The settings of a run, each with where it comes from.

use autonoe_core::{
    Budget, ConfigLine, Destructive, EffectiveConfig, GivenLimits, Mode, OnQuota, ResumedRun,
    RunLimits, RunPreview, Source, format_duration,
};
use schemars::JsonSchema;
use serde::Serialize;

use super::on_model::OnModel;
use crate::args::{AgentArgs, Work};
use crate::compose::ChosenBackend;

/// One value, with where it comes from.
#[derive(Debug, Serialize, JsonSchema)]
pub(crate) struct Setting {
    /// Its name; a list has one setting per entry.
    pub(in crate::commands) key: String,
    /// Its value, for people.
    pub(in crate::commands) value: String,
    /// Where it comes from, for people.
    pub(in crate::commands) source: String,
}

impl Setting {
    pub(super) fn new(key: &str, value: impl Into<String>, source: &Source) -> Self {
        Self {
            key: key.to_owned(),
            value: value.into(),
            source: source.to_string(),
        }
    }
}

/// Lists what the command line says, and then what the project's file and the baseline say.
pub(super) fn settings(
    work: &Work<'_>,
    preview: &RunPreview,
    backend: &ChosenBackend,
    on_model: Option<&OnModel>,
) -> Vec<Setting> {
    let mut settings = run_limits(work, preview.resumes.as_ref());
    settings.push(of_backend(backend));
    settings.extend(on_model.map(OnModel::provider));
    settings.extend(of_agent(work.agent, work.destructive));
    let lines = preview
        .config
        .explain()
        .iter()
        .filter(|line| !is_backend(line));
    settings.extend(lines.map(Setting::from));
    settings
}

/// Lists the same for a flow, whose steps have limits of their own.
pub(in crate::commands) fn flow_settings(
    agent: &AgentArgs,
    destructive: Destructive,
    config: &EffectiveConfig,
    backend: &ChosenBackend,
) -> Vec<Setting> {
    let given = agent.limits.given();
    // Flows count no iterations, retries and stalled sessions.
    let limits = limits(&given.over(&RunLimits::new(Mode::Run)));
    let limits = limits.into_iter().zip(given_flags(&given)).skip(3);
    let mut settings: Vec<_> = limits
        .map(|((key, value), is_given)| match is_given {
            true => Setting::new(key, value, &Source::Flag),
            false => Setting::new(key, value, &Source::Default),
        })
        .collect();
    settings.push(of_backend(backend));
    settings.extend(of_agent(agent, destructive));
    let is_granted = |line: &&ConfigLine| {
        // What the project grants to runs is not granted to flows, which name their own.
        let key = line.key.as_str();
        key.starts_with("permissions.") || key == "allowedTools"
    };
    let lines = config.explain().iter();
    let lines = lines.filter(|line| !is_granted(line) && !is_backend(line));
    settings.extend(lines.map(Setting::from));
    settings
}

/// Says which backend it is, whoever named it.
fn of_backend(backend: &ChosenBackend) -> Setting {
    Setting::new("backend", backend.choice.to_string(), &backend.source)
}

/// Tells whether a line is about the backend of the file, which may not be the one that counts.
fn is_backend(line: &ConfigLine) -> bool {
    line.key == "backend"
}

/// Lists what the command line says of the agent.
fn of_agent(agent: &AgentArgs, destructive: Destructive) -> Vec<Setting> {
    let models = agent.models();
    let mut settings = Vec::new();
    for (key, model) in [
        ("model", models.implementation),
        ("planModel", models.planning),
    ] {
        settings.extend(model.map(|model| Setting::new(key, model, &Source::Flag)));
    }
    if let Some(thinking) = agent.thinking {
        let value = format!("{} tokens", thinking.tokens());
        settings.push(Setting::new("thinking", value, &Source::Flag));
    }
    let (destructive, source) = match destructive {
        Destructive::Allowed => ("allowed", Source::Flag),
        Destructive::Forbidden => ("forbidden", Source::Default),
    };
    settings.push(Setting::new("destructive", destructive, &source));
    settings
}

impl From<&ConfigLine> for Setting {
    fn from(line: &ConfigLine) -> Self {
        Self::new(&line.key, &line.value, &line.source)
    }
}

/// Lists the limits: those that the command line gives, and the others as they are for a new
/// run, or as a run that is gone on with was started with.
fn run_limits(work: &Work<'_>, resumed: Option<&ResumedRun>) -> Vec<Setting> {
    let given = work.agent.limits.given();
    let (before, otherwise) = match resumed {
        None => (RunLimits::new(work.mode), Source::Default.to_string()),
        Some(resumed) => (resumed.limits.clone(), "journal".to_owned()),
    };
    limits(&given.over(&before))
        .into_iter()
        .zip(given_flags(&given))
        .map(|((key, value), is_given)| Setting {
            key: key.to_owned(),
            value,
            source: match is_given {
                true => Source::Flag.to_string(),
                false => otherwise.clone(),
            },
        })
        .collect()
}

/// Lists the limits that the command line gives, with the names of [`settings`].
pub(in crate::commands) fn given_limits(given: &GivenLimits) -> Vec<(&'static str, String)> {
    // The mode does not matter, because only the given limits are kept.
    let all = limits(&given.over(&RunLimits::new(Mode::Run))).into_iter();
    let is_given = given_flags(given);
    all.zip(is_given)
        .filter_map(|(limit, is_given)| is_given.then_some(limit))
        .collect()
}

/// Tells which of the [`limits`] are given.
fn given_flags(given: &GivenLimits) -> [bool; 6] {
    [
        given.max_iterations.is_some(),
        given.max_retries.is_some(),
        given.max_stalled_sessions.is_some(),
        given.on_quota.is_some(),
        given.budget.cost_usd.is_some(),
        given.budget.time.is_some(),
    ]
}

fn limits(limits: &RunLimits) -> [(&'static str, String); 6] {
    let unlimited = || "unlimited".to_owned();
    let Budget { cost_usd, time, .. } = limits.budget;
    let on_quota = match limits.on_quota {
        OnQuota::Stop => "stop",
        OnQuota::Wait => "wait",
    };
    let iterations = limits.max_iterations.map(|max| max.to_string());
    let stalled = match limits.max_stalled_sessions {
        0 => unlimited(),
        max => max.to_string(),
    };
    let cost = cost_usd.map(|cost| cost.to_string());
    [
        ("maxIterations", iterations.unwrap_or_else(unlimited)),
        ("maxRetries", limits.max_retries.to_string()),
        ("maxStalledSessions", stalled),
        ("onQuota", on_quota.to_owned()),
        ("maxCost", cost.unwrap_or_else(unlimited)),
        ("maxTime", time.map_or_else(unlimited, format_duration)),
    ]
}
