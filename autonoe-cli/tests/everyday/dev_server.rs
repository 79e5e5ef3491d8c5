//! A development server that is started in the background, requested and stopped.

use std::net::TcpListener;

use serde_json::json;

use crate::backends::backend::Backend;
use crate::backends::story::{runs, writes};
use crate::build::{Build, on_both_builds};
use crate::everyday::chore::Chore;
use crate::everyday::whole_run::run_chores;

const SERVER: &str = "const http = require('http');
const server = http.createServer((request, response) => response.end(`served ${request.url}\\n`));
server.listen(process.env.PORT, '127.0.0.1', () => console.log('listening'));
";

/// Starts a server with its output in a file, requests it until it answers, and stops it.
pub(crate) fn dev_server() -> Chore {
    let port = free_port();
    let in_one_command = format!(
        "PORT={port} node server.js > server.log 2>&1 &
until curl -sf http://localhost:{port}/health; do sleep 0.2; done
curl -s -o /dev/null -w \"%{{http_code}}\" http://127.0.0.1:{port}/
kill %1"
    );
    let calls = [
        writes("server.js", SERVER),
        runs(in_one_command)
            .showing("served /health")
            .showing("200"),
        runs("cat server.log").showing("listening"),
    ];
    Chore::new("The server answers", calls)
        // The base policy does not allow the command; users of such projects do.
        .settings(json!({"allowCommands": ["curl"]}))
        .leaves(["server.js", "server.log"])
        .check(move |_, findings| {
            let bound = TcpListener::bind(("127.0.0.1", port));
            findings.same("the port is free again", bound.is_ok(), true);
        })
}

/// Returns a port that is free at the moment.
fn free_port() -> u16 {
    let listener = TcpListener::bind("127.0.0.1:0").expect("a free port");
    listener.local_addr().expect("bound").port()
}

async fn a_server_is_started_requested_and_stopped(build: Build) {
    run_chores(Backend::Claude(build.version), [dev_server()]);
}

on_both_builds![a_server_is_started_requested_and_stopped];
