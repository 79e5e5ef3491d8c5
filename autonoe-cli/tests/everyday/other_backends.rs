//! The same work on Codex, Gemini CLI and a model backend.

use crate::backends::backend::Backend;
use crate::backends::on_models::Api;
use crate::everyday::dev_server::dev_server;
use crate::everyday::files::files;
use crate::everyday::git_work::git_work;
use crate::everyday::languages::{node_project, python_project, rust_project};
use crate::everyday::mcp_server::mcp_server;
use crate::everyday::temporary_files::temporary_files;
use crate::everyday::whole_run::{run_chores, run_chores_in};

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
    run_chores_in(project, backend, chores);
}

fn projects_are_built_and_servers_called(backend: Backend) {
    let projects = [node_project(), python_project(), rust_project()];
    let servers = [dev_server(), mcp_server()];
    run_chores(backend, projects.into_iter().chain(servers));
}

on_other_backends![
    git_works_and_files_are_changed,
    projects_are_built_and_servers_called,
];
