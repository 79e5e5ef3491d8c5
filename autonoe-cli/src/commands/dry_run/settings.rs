//! Settings of a run, each with its source, for `--dry-run`.

use autonoe_app::{AgentOptions, ChosenBackend, ChosenModel, Origin};
use autonoe_core::gate::policy::Destructive;
use autonoe_core::project::{ConfigLine, EffectiveConfig, ResumedRun, RunPreview, Source};
use autonoe_core::run::{LimitOverrides, RunLimits};
use autonoe_core::time::format_duration;
use autonoe_core::{Budget, Mode, OnQuota};
use schemars::JsonSchema;
use serde::Serialize;

/// One value and its source.
#[derive(Debug, Serialize, JsonSchema)]
pub(crate) struct Setting {
    /// Its name; a list has one setting per entry.
    pub(in crate::commands) key: String,
    /// Its value as text.
    pub(in crate::commands) value: String,
    /// Its source as text.
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

/// Lists the settings of the command line, then those of the project's file and the baseline.
pub(super) fn settings(
    agent: &AgentOptions,
    limits: &LimitOverrides,
    mode: Mode,
    preview: &RunPreview,
    backend: &ChosenBackend,
    on_model: Option<&ChosenModel>,
) -> Vec<Setting> {
    let mut settings = run_limits(limits, mode, preview.resumes.as_ref());
    settings.push(backend_setting(backend));
    settings.extend(on_model.map(provider));
    settings.extend(agent_settings(agent));
    let lines = preview
        .config
        .explain()
        .iter()
        .filter(|line| !is_backend(line));
    settings.extend(lines.map(Setting::from));
    settings
}

/// Lists the settings of a flow, whose steps have their own limits.
pub(in crate::commands) fn flow_settings(
    agent: &AgentOptions,
    limits: &LimitOverrides,
    config: &EffectiveConfig,
    backend: &ChosenBackend,
) -> Vec<Setting> {
    // Flows have no limits for iterations, retries and stalled sessions.
    let mut settings = run_limits(limits, Mode::Run, None).split_off(3);
    settings.push(backend_setting(backend));
    settings.extend(agent_settings(agent));
    let is_granted = |line: &&ConfigLine| {
        // Grants of the project apply to runs only. Flows declare their own.
        let key = line.key.as_str();
        key.starts_with("permissions.") || key == "allowedTools"
    };
    let lines = config
        .explain()
        .iter()
        .filter(|line| !is_granted(line) && !is_backend(line));
    settings.extend(lines.map(Setting::from));
    settings
}

/// Returns the effective backend.
fn backend_setting(backend: &ChosenBackend) -> Setting {
    Setting::new("backend", backend.choice.to_string(), &backend.source)
}

/// Returns whether a line is the backend of the file, which may not be the effective one.
fn is_backend(line: &ConfigLine) -> bool {
    line.key == "backend"
}

/// Lists the agent options of the command line.
fn agent_settings(agent: &AgentOptions) -> Vec<Setting> {
    let mut settings = Vec::new();
    for (key, model) in [("model", &agent.model), ("planModel", &agent.plan_model)] {
        let model = model.as_deref();
        settings.extend(model.map(|model| Setting::new(key, model, &Source::Flag)));
    }
    if let Some(thinking) = agent.thinking {
        let value = format!("{} tokens", thinking.tokens());
        settings.push(Setting::new("thinking", value, &Source::Flag));
    }
    let (destructive, source) = match agent.destructive() {
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

/// Lists the limits of a run. Limits that are not given have the values of the resumed run, or else
/// the defaults of a new run.
fn run_limits(
    overrides: &LimitOverrides,
    mode: Mode,
    resumed: Option<&ResumedRun>,
) -> Vec<Setting> {
    let (before, otherwise) = match resumed {
        None => (RunLimits::new(mode), Source::Default.to_string()),
        Some(resumed) => (resumed.limits.clone(), "journal".to_owned()),
    };
    limits(&overrides.apply_to(&before))
        .into_iter()
        .zip(override_flags(overrides))
        .map(|((key, value), is_set)| Setting {
            key: key.to_owned(),
            value,
            source: if is_set {
                Source::Flag.to_string()
            } else {
                otherwise.clone()
            },
        })
        .collect()
}

/// Lists the limits in force with the names of [`settings`]: those of the command line, and those
/// of the resumed run that differ from the defaults.
pub(in crate::commands) fn limits_in_force(
    overrides: &LimitOverrides,
    resumed: Option<&RunLimits>,
) -> Vec<(&'static str, String)> {
    let default = RunLimits::new(resumed.map_or(Mode::Run, |resumed| resumed.mode));
    let before = resumed.unwrap_or(&default);
    limits(&overrides.apply_to(before))
        .into_iter()
        .zip(limits(&default))
        .zip(override_flags(overrides))
        .filter(|((limit, default), is_set)| *is_set || limit != default)
        .map(|((limit, _), _)| limit)
        .collect()
}

/// Returns for each of the [`limits`] whether it is given.
fn override_flags(overrides: &LimitOverrides) -> [bool; 6] {
    [
        overrides.max_iterations.is_some(),
        overrides.max_retries.is_some(),
        overrides.max_stalled_sessions.is_some(),
        overrides.on_quota.is_some(),
        overrides.budget.cost_usd.is_some(),
        overrides.budget.time.is_some(),
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

/// Returns the provider of a model as a setting. The API key is not read.
fn provider(chosen: &ChosenModel) -> Setting {
    let backend = &chosen.backend;
    let name = backend.provider_name();
    Setting {
        key: "provider".to_owned(),
        value: format!("{name} (type {})", backend.provider.typetag_name()),
        source: match &chosen.origin {
            Origin::BuiltIn => Source::BuiltIn.to_string(),
            Origin::CommandLine => Source::Flag.to_string(),
            Origin::File(path) => path.display().to_string(),
        },
    }
}
