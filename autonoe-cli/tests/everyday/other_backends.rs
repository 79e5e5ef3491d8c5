//! The same work on Codex, Gemini CLI and a model backend.

use crate::backends::backend::Backend;
use crate::backends::on_models::Api;
use crate::everyday::background_command::daemon;
use crate::everyday::credentials::credentials;
use crate::everyday::dev_server::dev_server;
use crate::everyday::files::files;
use crate::everyday::git_work::git_work;
use crate::everyday::languages::{node_project, python_project, rust_project};
use crate::everyday::long_runs::{
    an_agent_that_stalls_is_stopped, an_interrupted_run_is_continued,
    each_deliverable_takes_one_session,
};
use crate::everyday::mcp_server::mcp_server;
use crate::everyday::memory_file::{a_memory_file_is_followed, a_memory_file_is_ignored};
use crate::everyday::protected_files::protected_files;
use crate::everyday::temporary_files::{session_folders, shared_tmp, temporary_files};
use crate::everyday::whole_run::{run_chores, run_chores_without_repository};

/// Generates a test of each function for each backend.
macro_rules! on_other_backends {
    ($($name:ident),+ $(,)?) => {
        on_other_backends!(@each [$($name),+]
            on_codex = Backend::Codex,
            on_gemini = Backend::Gemini,
            on_a_model = Backend::Model(Api::Messages),
        );
    };
    (@each $names:tt $($backend:ident = $value:expr,)+) => {
        $(on_other_backends!(@one $names $backend = $value);)+
    };
    (@one [$($name:ident),+] $backend:ident = $value:expr) => {
        mod $backend {
            use super::*;

            $(#[test]
            fn $name() {
                super::$name($value);
            })+
        }
    };
}

fn git_works_and_files_are_changed(backend: Backend) {
    let project = "Mein Projekt für Zoë, 日本";
    let chores = [git_work(backend), files(), temporary_files(backend)];
    run_chores_without_repository(project, backend, chores);
}

fn tmp_is_as_the_guide_says_and_the_folders_of_sessions_are_protected(backend: Backend) {
    run_chores(backend, [shared_tmp(backend), session_folders(backend)]);
}

fn projects_are_built_and_servers_called(backend: Backend) {
    let projects = [node_project(), python_project(), rust_project()];
    let servers = [dev_server(), mcp_server()];
    run_chores(backend, projects.into_iter().chain(servers));
}

fn credentials_and_protected_files_are_safe(backend: Backend) {
    run_chores(backend, [credentials(backend), protected_files(backend)]);
}

on_other_backends![
    a_memory_file_is_followed,
    git_works_and_files_are_changed,
    an_interrupted_run_is_continued,
    credentials_and_protected_files_are_safe,
    projects_are_built_and_servers_called,
    tmp_is_as_the_guide_says_and_the_folders_of_sessions_are_protected,
];

// Sessions of the vendors' programs take seconds of processor time, so the longest run uses a model,
// and Gemini CLI, the slowest program, has no run of many sessions.

#[test]
fn an_agent_that_stalls_is_stopped_on_codex() {
    an_agent_that_stalls_is_stopped(Backend::Codex);
}

#[test]
fn an_agent_that_stalls_is_stopped_on_a_model() {
    an_agent_that_stalls_is_stopped(Backend::Model(Api::Messages));
}

#[test]
fn ten_deliverables_take_eleven_sessions_on_codex() {
    each_deliverable_takes_one_session(Backend::Codex, 10);
}

#[test]
fn thirty_deliverables_take_thirty_one_sessions_on_a_model() {
    each_deliverable_takes_one_session(Backend::Model(Api::Messages), 30);
}

#[test]
fn a_daemon_of_an_agent_on_a_model_ends_with_the_run() {
    run_chores(Backend::Model(Api::Messages), [daemon()]);
}

/// Gemini CLI cannot ignore its memory file.
#[test]
fn codex_and_agents_on_models_ignore_a_memory_file_that_is_switched_off() {
    for backend in [Backend::Codex, Backend::Model(Api::Messages)] {
        a_memory_file_is_ignored(backend);
    }
}
