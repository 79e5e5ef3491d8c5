//! Options of a backend with which no session could run.

use autonoe_core::{
    AgentClientFactory, Gate, Grants, ProjectPaths, RunId, SessionKey, SessionSpec, Toolbox,
};

/// Asserts that `agents`, which have an invalid option, refuse to be probed and to create a client,
/// both with an error that begins with the `call` that set the option.
///
/// # Panics
///
/// They accept the option, or the error is another one.
pub async fn assert_option_refused(agents: &dyn AgentClientFactory, call: &str) {
    let key = SessionKey {
        run: RunId::new("run"),
        number: 1,
    };
    let gate = Gate::new(ProjectPaths::new("/srv/project"), Grants::none());
    let spec = SessionSpec::new(key, "/srv/project", gate, Toolbox::new([]));

    let probed = agents.probe().await.expect_err(call).to_string();
    let created = agents.create(spec).expect_err(call).to_string();

    assert!(probed.starts_with(&format!("{call}: ")), "{probed}");
    assert_eq!(created, probed, "{call}");
}
