//! The backends of a fleet, by name.

use std::collections::btree_map::Entry;
use std::collections::{BTreeMap, BTreeSet};
use std::ffi::OsString;

use autonoe_app::{AgentOptions, ChosenBackend, ModelsFile, telemetry_keys};
use autonoe_core::Project;
use autonoe_core::engine::RunSpec;
use autonoe_harness::{Candidate, Roadmap};
use serde_json::Value;

use crate::args::{FleetBackend, HarnessRunArgs};
use crate::cli_env::CliEnv;
use crate::commands::harness::executor_factory::ExecutorFactory;
use crate::commands::harness::work::{BackendSetting, VARIABLE, WorkSettings};
use crate::error::CliError;

/// Backends of a fleet, by name.
#[derive(Clone, Debug)]
pub(super) struct Backends {
    known: BTreeMap<String, ConfiguredBackend>,
    /// Names of the backends on the command line, in their order.
    named: Vec<String>,
    default_backend: String,
}

#[derive(Clone, Debug)]
struct ConfiguredBackend {
    chosen: ChosenBackend,
    setting: BackendSetting,
}

impl Backends {
    /// Finds the backends of the command line, of the project and of the tasks.
    pub(super) fn find(
        args: &HarnessRunArgs,
        roadmap: &Roadmap,
        project: &Project,
        env: &CliEnv,
    ) -> Result<Self, CliError> {
        let mut backends = Self {
            known: BTreeMap::new(),
            named: Vec::new(),
            default_backend: String::new(),
        };
        for backend in &args.backend {
            if let Some(name) = &backend.name
                && backends.known.contains_key(name)
            {
                return Err(CliError::usage(format!(
                    "two backends have the name {name:?}"
                )));
            }
            let name = backends.unused_name(backend.name());
            backends.add(&name, backend, env);
            backends.named.push(name);
        }
        match backends.named.first() {
            Some(first) => backends.default_backend.clone_from(first),
            None => {
                let chosen = ChosenBackend::find(None, Some(project))?;
                backends.default_backend = chosen.choice.tag().to_owned();
                let setting = BackendSetting {
                    backend: None,
                    model: None,
                };
                let known = ConfiguredBackend { chosen, setting };
                backends
                    .known
                    .insert(backends.default_backend.clone(), known);
            }
        }
        for backend in &args.escalate_to {
            if !backends.known.contains_key(backend.name()) {
                backends.add(backend.name(), backend, env);
            }
        }
        for planned in roadmap.tasks.iter().filter(|planned| !planned.is_done) {
            for cli in planned.task.cli.iter().chain(&planned.fallbacks) {
                if backends.known.contains_key(cli) {
                    continue;
                }
                let backend = cli.parse::<FleetBackend>().map_err(|error| {
                    let place = format!("{}:{}", args.roadmap.display(), planned.line);
                    let task = &planned.task.id;
                    let message = format!("{place}: the task {task} names the backend {cli:?}");
                    CliError::failure(format!("{message}: {error}"))
                        .with_hint(format!("define it with --backend {cli}=BACKEND"))
                })?;
                backends.add(cli, &backend, env);
            }
        }
        Ok(backends)
    }

    fn add(&mut self, name: &str, backend: &FleetBackend, env: &CliEnv) {
        let setting = BackendSetting {
            backend: Some(backend.choice.to_arg(&env.working_dir)),
            model: backend.model.clone(),
        };
        let chosen = ChosenBackend::from_flag(&backend.choice);
        self.known
            .insert(name.to_owned(), ConfiguredBackend { chosen, setting });
    }

    /// Returns `name`, or `name` with a number if it is in use.
    fn unused_name(&self, name: &str) -> String {
        let numbered = (2..).map(|number| format!("{name}-{number}"));
        let mut names = std::iter::once(name.to_owned()).chain(numbered);
        let unused = names.find(|name| !self.known.contains_key(name));
        unused.unwrap_or_default()
    }

    /// Returns the candidates of a race or a vote: one per backend of the command line.
    pub(super) fn candidates(&self) -> Vec<Candidate> {
        let named = self.named.iter().map(|name| Candidate {
            name: name.clone(),
            backend: Some(name.clone()),
            model: self.known[name].setting.model.clone(),
        });
        named.collect()
    }

    /// Returns the backend for tasks without an explicit one.
    pub(super) fn default_name(&self) -> &str {
        &self.default_backend
    }

    /// Adds all backends to the factory, and returns their warnings. A backend that cannot be used is
    /// an error.
    pub(super) fn add_to(
        &self,
        executor_factory: &mut ExecutorFactory,
        project: &Project,
    ) -> Result<Vec<String>, CliError> {
        let mut warnings = BTreeSet::new();
        for (name, known) in &self.known {
            let model = known.setting.model.as_deref();
            warnings.extend(executor_factory.add(name, &known.chosen, model, project)?);
        }
        executor_factory.set_default_backend(&self.default_backend);
        Ok(warnings.into_iter().collect())
    }

    /// Returns the environment for the process of a member. It contains the keys of the backends
    /// that the order names and those of telemetry, and no other keys.
    pub(super) fn member_environment(
        &self,
        order: &RunSpec,
        settings: &WorkSettings,
        models: &ModelsFile,
        env: &CliEnv,
    ) -> BTreeMap<OsString, OsString> {
        let named = names_in(&order.input["work"]);
        let is_needed =
            |name: &String| *name == self.default_backend || named.contains(name.as_str());
        let needed = self.known.iter().filter(|(name, _)| is_needed(name));
        let mut environment = BTreeMap::new();
        let mut settings = settings.clone();
        for (name, known) in needed {
            environment.extend(known.chosen.environment(models, env));
            settings
                .backends
                .insert(name.clone(), known.setting.clone());
        }
        for (name, value) in telemetry_keys(models, env) {
            // A backend that uses the same key keeps it, so the key is not listed.
            if let Entry::Vacant(vacant) = environment.entry(name) {
                let name = vacant.key().to_string_lossy().into_owned();
                settings.telemetry_keys.push(name);
                vacant.insert(value);
            }
        }
        // Texts, numbers and booleans always serialize.
        let settings = serde_json::to_string(&settings).unwrap_or_default();
        environment.insert(VARIABLE.into(), settings.into());
        environment
    }

    /// Returns the settings that all members share, without the backends.
    pub(super) fn settings(&self, agent: &AgentOptions) -> WorkSettings {
        WorkSettings {
            backends: BTreeMap::new(),
            default_backend: self.default_backend.clone(),
            thinking: agent.thinking.map(|budget| budget.tokens()),
            no_sandbox: agent.no_sandbox,
            destructive: agent.is_destructive,
            telemetry_keys: Vec::new(),
        }
    }
}

/// Returns the backends that the work of a member names.
fn names_in(work: &Value) -> BTreeSet<&str> {
    let tasks = items(&work["tasks"]);
    let of_tasks = tasks.flat_map(|planned| {
        let fallbacks = items(&planned["fallbacks"]);
        fallbacks.chain([&planned["task"]["cli"]])
    });
    let rungs = items(&work["ladder"]);
    let escalations = rungs.flat_map(|rung| items(&rung["to"]));
    let of_ladder = escalations.map(|to| &to["cli"]);
    let all = of_tasks.chain(of_ladder).chain([&work["backend"]]);
    all.filter_map(Value::as_str).collect()
}

fn items(list: &Value) -> impl Iterator<Item = &Value> {
    list.as_array().into_iter().flatten()
}

#[cfg(test)]
mod tests {
    use std::ffi::OsStr;

    use autonoe_app::Env;
    use autonoe_core::RunId;
    use serde_json::json;

    use super::*;

    fn env() -> CliEnv {
        let names = [
            "PATH",
            "ANTHROPIC_API_KEY",
            "OPENAI_API_KEY",
            "GEMINI_API_KEY",
        ];
        CliEnv {
            env: Env {
                working_dir: "/srv".into(),
                environment: names.map(|name| (name.into(), "x".into())).into(),
            },
            has_terminal: false,
            is_interactive: false,
            colours: false,
            columns: None,
        }
    }

    fn backends(words: &[&str]) -> Backends {
        let mut backends = Backends {
            known: BTreeMap::new(),
            named: Vec::new(),
            default_backend: String::new(),
        };
        for setting in words {
            let backend: FleetBackend = setting.parse().expect("a backend");
            let name = backends.unused_name(backend.name());
            backends.add(&name, &backend, &env());
            backends.named.push(name);
        }
        backends.default_backend.clone_from(&backends.named[0]);
        backends
    }

    fn settings(backends: &Backends) -> WorkSettings {
        WorkSettings {
            backends: BTreeMap::new(),
            default_backend: backends.default_backend.clone(),
            thinking: None,
            no_sandbox: false,
            destructive: false,
            telemetry_keys: Vec::new(),
        }
    }

    /// Returns the settings in the environment of a member.
    fn settings_in(environment: &BTreeMap<OsString, OsString>) -> WorkSettings {
        let settings = environment[OsStr::new(VARIABLE)].to_str().expect("text");
        serde_json::from_str(settings).expect("settings")
    }

    /// Returns the keys and the backends that a member with `work` gets.
    fn member_keys_and_backends(backends: &Backends, work: &Value) -> (Vec<String>, Vec<String>) {
        let order = RunSpec::new(RunId::new("f.a"), "work", json!({"work": work}));
        let models = ModelsFile::default();
        let environment = backends.member_environment(&order, &settings(backends), &models, &env());
        let settings = settings_in(&environment);
        let names = environment
            .into_keys()
            .map(|name| name.to_string_lossy().into_owned());
        let keys = names.filter(|name| name.ends_with("_KEY"));
        (keys.collect(), settings.backends.into_keys().collect())
    }

    #[test]
    fn a_member_gets_the_keys_of_the_backends_that_it_names_and_no_others() {
        let backends = backends(&["codex", "claude@opus", "gemini"]);
        for (work, keys, names) in [
            (json!({}), &["OPENAI_API_KEY"][..], &["codex"][..]),
            (
                json!({"tasks": [{"task": {"cli": "claude"}}]}),
                &["ANTHROPIC_API_KEY", "OPENAI_API_KEY"],
                &["claude", "codex"],
            ),
            (
                json!({"tasks": [{"task": {"cli": "codex"}, "fallbacks": ["gemini"]}]}),
                &["GEMINI_API_KEY", "OPENAI_API_KEY"],
                &["codex", "gemini"],
            ),
            (
                json!({"backend": "codex", "ladder": [{"type": "escalate", "to": [{"cli": "gemini"}]}]}),
                &["GEMINI_API_KEY", "OPENAI_API_KEY"],
                &["codex", "gemini"],
            ),
        ] {
            let (found_keys, found_names) = member_keys_and_backends(&backends, &work);

            assert_eq!(found_keys, keys, "{work}");
            assert_eq!(found_names, names, "{work}");
        }
    }

    #[test]
    fn a_member_gets_telemetry_keys_and_the_names_of_those_without_other_use() {
        let telemetry = json!({"headers": {"x-token": {"env": "THE_TOKEN"}}});
        let mut models = ModelsFile::default();
        models.telemetry = serde_json::from_value(telemetry).expect("a section");
        let mut env = env();
        for name in ["OTEL_EXPORTER_OTLP_HEADERS", "THE_TOKEN"] {
            env.env.environment.insert(name.into(), "x".into());
        }
        let order = RunSpec::new(RunId::new("f.a"), "work", json!({}));
        for (backend, expected) in [
            ("codex", &["OTEL_EXPORTER_OTLP_HEADERS", "THE_TOKEN"][..]),
            // Agents on models have this variable anyway, and hide it from their commands.
            ("model:openai/gpt-5", &["OTEL_EXPORTER_OTLP_HEADERS"]),
        ] {
            let backends = backends(&[backend]);
            let settings = settings(&backends);

            let environment = backends.member_environment(&order, &settings, &models, &env);

            for name in ["OTEL_EXPORTER_OTLP_HEADERS", "THE_TOKEN"] {
                assert!(
                    environment.contains_key(OsStr::new(name)),
                    "{backend}: {name}"
                );
            }
            assert_eq!(
                settings_in(&environment).telemetry_keys,
                expected,
                "{backend}"
            );
        }
    }

    #[test]
    fn candidates_on_one_backend_have_names_of_their_own() {
        let backends = backends(&["codex@a", "codex@b", "own=claude"]);

        let candidates = backends.candidates();

        let names: Vec<_> = candidates.iter().map(|it| it.name.as_str()).collect();
        assert_eq!(names, ["codex", "codex-2", "own"]);
        assert_eq!(candidates[1].model.as_deref(), Some("b"));
    }
}
