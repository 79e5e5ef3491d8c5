//! Everyday work on every backend.

use crate::backends::backend::{Api, Backend};
use crate::build::Build;
use crate::everyday::background_command::daemon;
use crate::everyday::conversations::{
    a_question_is_answered_and_continued, a_step_continues_the_conversation_of_the_step_before,
};
use crate::everyday::credentials::credentials;
use crate::everyday::dev_server::dev_server;
use crate::everyday::files::{claude_tools, files};
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
macro_rules! on_every_backend {
    ($($name:ident),+ $(,)?) => {
        on_every_backend!(@each [$($name),+]
            on_claude = Backend::Claude(Build::NEWER.version),
            on_codex = Backend::Codex,
            on_gemini = Backend::Gemini,
            on_a_model = Backend::Model(Api::Messages),
        );
    };
    (@each $names:tt $($backend:ident = $value:expr,)+) => {
        $(on_every_backend!(@one $names $backend = $value);)+
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

// Shows: spec/5.3/project-files, spec/5.3/git-history, spec/9.2/git
fn git_works_and_files_are_changed(backend: Backend) {
    // Spaces and non-ASCII letters in the path, and no repository.
    let project = "Mein Projekt für Zoë, 日本";
    let chores = [git_work(backend), files(), temporary_files(backend)];
    let is_claude = matches!(backend, Backend::Claude(_));
    let chores = chores.into_iter().chain(is_claude.then(claude_tools));
    run_chores_without_repository(project, backend, chores);
}

fn projects_are_built_and_servers_called(backend: Backend) {
    let projects = [node_project(), python_project(), rust_project()];
    let servers = [dev_server(), mcp_server()];
    run_chores(backend, projects.into_iter().chain(servers));
}

fn credentials_protected_files_and_folders_of_sessions_are_safe(backend: Backend) {
    let chores = [
        credentials(backend),
        protected_files(backend),
        shared_tmp(backend),
        session_folders(backend),
    ];
    run_chores(backend, chores);
}

on_every_backend![
    a_step_continues_the_conversation_of_the_step_before,
    a_question_is_answered_and_continued,
    git_works_and_files_are_changed,
    an_interrupted_run_is_continued,
    credentials_protected_files_and_folders_of_sessions_are_safe,
    projects_are_built_and_servers_called,
];

// Sessions of the vendors' programs take seconds of processor time, so the longest run uses a
// model, and Gemini CLI, the slowest program, has no run of many sessions.

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

// `backends::project_memory` covers the memory file of Gemini CLI, and the tests of its backend
// that of Claude Code.

#[test]
fn codex_and_agents_on_models_follow_a_memory_file() {
    for backend in [Backend::Codex, Backend::Model(Api::Messages)] {
        a_memory_file_is_followed(backend);
    }
}

/// Gemini CLI cannot ignore its memory file.
#[test]
fn a_memory_file_that_is_switched_off_is_ignored() {
    let claude = Backend::Claude(Build::NEWER.version);
    for backend in [claude, Backend::Codex, Backend::Model(Api::Messages)] {
        a_memory_file_is_ignored(backend);
    }
}
