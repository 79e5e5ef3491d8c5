//! Snapshots of the whole launch.

use std::path::Path;

use autonoe_core::agent::{Sandbox, ThinkingBudget};
use autonoe_core::event::TraceContext;
use autonoe_core::gate::{Gate, Grants, ProjectPaths};
use autonoe_core::time::SessionKey;
use autonoe_core::tool::Toolbox;
use autonoe_core::{Budget, RunId, SessionSpec};

use super::command_line::{Files, arguments};
use super::command_line::{Folders, environment};
use super::{ClaudeOptions, ConfigFolder, LaunchPlan, SettingSources, Settings};
use crate::ClaudePermissionMode;

fn spec() -> SessionSpec {
    let key = SessionKey {
        run: RunId::new("run"),
        number: 1,
    };
    let gate = Gate::new(ProjectPaths::new("/srv/project"), Grants::none());
    SessionSpec::new(key, "/srv/project", gate, Toolbox::new([]))
}

fn options() -> ClaudeOptions {
    let environment = [
        ("PATH", "/usr/bin"),
        ("HOME", "/home/me"),
        ("CLAUDECODE", "1"),
    ];
    ClaudeOptions::new(
        "/usr/bin/claude",
        environment.map(|(name, value)| (name.into(), value.into())),
    )
}

fn folders() -> Folders<'static> {
    Folders {
        own: Path::new("/tmp/autonoe-1000/.autonoe/session"),
        temporary: Path::new("/tmp/session"),
    }
}

fn render_launch(options: &ClaudeOptions, spec: &SessionSpec, files: &Files) -> String {
    let parents = ["/tmp/autonoe-1000".into()];
    let settings = Settings::new(options, spec, &parents, Path::new("/tmp/session"));
    let settings = settings.expect("rules that Claude Code has");
    arguments(options, spec, &settings, files).join("\n")
}

// Shows: spec/5.4/rules-for-the-program
#[test]
fn a_plain_session_is_launched_so_that_nothing_is_allowed_but_by_the_gate() {
    insta::assert_snapshot!(render_launch(&options(), &spec(), &Files::default()));
}

// Shows: framework/models/correlation-across-processes
#[test]
fn session_processes_inherit_the_trace_by_default() {
    let trace = "00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01";
    let mut spec = spec();
    spec.trace = TraceContext::parse(trace, Some("vendor=1")).ok();
    let variable = |spec: &SessionSpec, name: &str| {
        let environment = environment(&options(), spec, folders(), None);
        let value = environment.get(std::ffi::OsStr::new(name)).cloned();
        value.and_then(|value| value.into_string().ok())
    };

    assert_eq!(variable(&spec, "TRACEPARENT").as_deref(), Some(trace));
    assert_eq!(variable(&spec, "TRACESTATE").as_deref(), Some("vendor=1"));
    spec.environment.insert("TRACEPARENT".into(), "mine".into());
    assert_eq!(variable(&spec, "TRACEPARENT").as_deref(), Some("mine"));
    spec.environment.clear();
    spec.trace = None;
    assert_eq!(variable(&spec, "TRACEPARENT"), None);
}

#[test]
fn all_options_appear_in_the_arguments() {
    let mut options = options();
    options.setting_sources = SettingSources::Project;
    options.tools = Some(vec!["Read".into()]);
    options.deny = vec!["Write(/etc/**)".parse().expect("a rule")];
    let mut spec = spec();
    spec.sandbox = Sandbox::Off;
    spec.model = Some("-x".into());
    spec.thinking = Some(ThinkingBudget::default());
    spec.max_turns = Some(7);
    spec.budget = Budget::default().with_cost("1.5".parse().expect("an amount"));
    spec.resume = Some(autonoe_core::time::AgentSessionId::new("0000"));
    let files = Files {
        system_prompt: Some("/tmp/session/system-prompt.md".into()),
        mcp_servers: Some("/tmp/session/mcp-servers.json".into()),
    };

    insta::assert_snapshot!(render_launch(&options, &spec, &files));
}

#[test]
fn the_environment_has_the_variables_of_the_caller_and_those_that_silence_the_program() {
    let mut options = options();
    options.config = ConfigFolder::PerSession;
    let mut spec = spec();
    spec.environment.insert("NODE_ENV".into(), "test".into());

    let excludes = Some(Path::new("/tmp/session/git-excludes"));
    let environment = environment(&options, &spec, folders(), excludes);
    let lines: Vec<String> = environment
        .iter()
        .map(|(name, value)| format!("{}={}", name.display(), value.display()))
        .collect();
    insta::assert_snapshot!(lines.join("\n"));
}

// Shows: interfaces/agent-client/permission-mode
#[test]
fn a_mode_in_which_the_program_allows_by_itself_is_refused() {
    for (mode, is_fine) in [
        (ClaudePermissionMode::DontAsk, true),
        (ClaudePermissionMode::Plan, true),
        (ClaudePermissionMode::Default, false),
        (ClaudePermissionMode::AcceptEdits, false),
    ] {
        let mut options = options();
        options.permission_mode = mode;
        assert_eq!(
            LaunchPlan::check(&options, &spec()).is_ok(),
            is_fine,
            "{mode:?}"
        );
    }
}
