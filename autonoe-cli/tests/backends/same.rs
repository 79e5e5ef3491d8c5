//! Tests that compare the outcome of each script on every backend with the snapshot of scripted
//! agents.

use crate::backends::backend::{Api, Backend};
use crate::backends::run_script::RunScript;
use crate::backends::run_scripts;

async fn is_as_on_scripted_agents(backend: Backend, run_script: RunScript) {
    let expected = Backend::Scripted.execute(&run_script).await;

    let outcome = backend.execute(&run_script).await;

    assert_eq!(
        outcome, expected,
        "on {backend:?}: {outcome}\ninstead of: {expected}"
    );
}

/// Generates a test of each script for scripted agents and each model, and of some scripts for
/// programs.
///
/// The decisions of a run do not depend on the backend. Each program runs the scripts that involve
/// its tools. Codex also runs the scripts that its service ends. The tests of the other backends
/// cover such errors with fewer starts of their programs.
macro_rules! on_every_backend {
    (
        on_every_program: $($run_script:ident),+;
        on_codex: $($ended:ident),+;
        on_models: $($other:ident),+ $(,)?
    ) => {
        mod on_scripted_agents {
            use super::*;

            on_every_backend!(@scripted $($run_script,)+ $($ended,)+ $($other,)+);
        }
        on_every_backend!(@each [$($run_script),+]
            on_claude_2_1_325 = Backend::Claude("2.1.325"),
            on_gemini = Backend::Gemini,
        );
        on_every_backend!(@each [$($run_script),+, $($ended),+]
            on_codex = Backend::Codex,
        );
        on_every_backend!(@each [$($run_script),+, $($ended),+, $($other),+]
            on_a_model_by_messages = Backend::Model(Api::Messages),
            on_a_model_by_responses = Backend::Model(Api::Responses),
            on_a_model_by_chat_completions = Backend::Model(Api::Chat),
            on_a_model_by_gemini = Backend::Model(Api::Gemini),
        );
    };
    (@scripted $($run_script:ident,)+) => {
        $(#[tokio::test]
        async fn $run_script() {
            let outcome = Backend::Scripted.execute(&run_scripts::$run_script()).await;

            insta::assert_snapshot!(stringify!($run_script), outcome);
        })+
    };
    (@each $run_scripts:tt $($name:ident = $backend:expr,)+) => {
        $(on_every_backend!(@one $run_scripts $name = $backend);)+
    };
    (@one [$($run_script:ident),+] $name:ident = $backend:expr) => {
        mod $name {
            use super::*;

            $(#[tokio::test]
            async fn $run_script() {
                is_as_on_scripted_agents($backend, run_scripts::$run_script()).await;
            })+
        }
    };
}

on_every_backend![
    on_every_program:
    all_pass,
    all_is_verified;
    on_codex:
    the_quota_is_spent,
    the_login_is_refused,
    the_model_is_unknown,
    unpaid_account;
    on_models:
    the_rest_is_blocked,
    everything_is_blocked,
    no_session_is_left,
];
