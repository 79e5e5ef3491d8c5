//! Tests that compare the outcome of each story on every backend with the snapshot of scripted
//! agents.

use crate::backends::backend::{Api, Backend};
use crate::backends::stories;
use crate::backends::story::Story;

async fn is_as_on_scripted_agents(backend: Backend, story: Story) {
    let expected = Backend::Scripted.run_story(&story).await;

    let outcome = backend.run_story(&story).await;

    assert_eq!(
        outcome, expected,
        "on {backend:?}: {outcome}\ninstead of: {expected}"
    );
}

/// Generates a test of each story for scripted agents and each model, and of some stories for
/// programs.
///
/// The decisions of a run do not depend on the backend. Each program runs the stories that involve
/// its tools. Codex also runs the stories that its service ends. The tests of the other backends
/// cover such errors with fewer starts of their programs.
macro_rules! on_every_backend {
    (
        on_every_program: $($story:ident),+;
        on_codex: $($ended:ident),+;
        on_models: $($other:ident),+ $(,)?
    ) => {
        mod on_scripted_agents {
            use super::*;

            on_every_backend!(@scripted $($story,)+ $($ended,)+ $($other,)+);
        }
        on_every_backend!(@each [$($story),+]
            on_claude_2_1_325 = Backend::Claude("2.1.325"),
            on_gemini = Backend::Gemini,
        );
        on_every_backend!(@each [$($story),+, $($ended),+]
            on_codex = Backend::Codex,
        );
        on_every_backend!(@each [$($story),+, $($ended),+, $($other),+]
            on_a_model_by_messages = Backend::Model(Api::Messages),
            on_a_model_by_responses = Backend::Model(Api::Responses),
            on_a_model_by_chat_completions = Backend::Model(Api::Chat),
            on_a_model_by_gemini = Backend::Model(Api::Gemini),
        );
    };
    (@scripted $($story:ident,)+) => {
        $(#[tokio::test]
        async fn $story() {
            let outcome = Backend::Scripted.run_story(&stories::$story()).await;

            insta::assert_snapshot!(stringify!($story), outcome);
        })+
    };
    (@each $stories:tt $($name:ident = $backend:expr,)+) => {
        $(on_every_backend!(@one $stories $name = $backend);)+
    };
    (@one [$($story:ident),+] $name:ident = $backend:expr) => {
        mod $name {
            use super::*;

            $(#[tokio::test]
            async fn $story() {
                is_as_on_scripted_agents($backend, stories::$story()).await;
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
