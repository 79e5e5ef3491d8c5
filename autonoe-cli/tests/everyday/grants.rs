//! Tools that `agent.json` grants to Claude Code.

use serde_json::json;

use crate::backends::backend::Backend;
use crate::backends::story::{reads, uses};
use crate::build::{Build, on_newer_build};
use crate::everyday::chore::Chore;
use crate::everyday::web_site::WebSite;
use crate::everyday::whole_run::run_chores;

const NOTEBOOK: &str = r#"{
 "cells": [
  {
   "cell_type": "code",
   "execution_count": null,
   "id": "first",
   "metadata": {},
   "outputs": [],
   "source": ["print('hi')"]
  }
 ],
 "metadata": {"language_info": {"name": "python"}},
 "nbformat": 4,
 "nbformat_minor": 5
}
"#;

/// Edits a notebook, fetches a page that is granted and tries one that is not.
fn granted_tools() -> Chore {
    let site = WebSite::start("docs.example.com");
    let proxy = site.proxy_url();
    let certificate = site.certificate().display().to_string();
    let fetch = |url: &str| {
        let input = json!({"url": url, "prompt": "What does the page say?"});
        uses("WebFetch", input)
    };
    let cell = json!({
        "notebook_path": "plot.ipynb", "cell_id": "first", "new_source": "print('hello')",
    });
    let calls = [
        reads("plot.ipynb").showing("print('hi')"),
        uses("NotebookEdit", cell),
        fetch("https://docs.example.com/guide"),
        fetch("https://elsewhere.example.org/").denied(),
    ];
    Chore::new("The granted tools work", calls)
        .file("plot.ipynb", NOTEBOOK)
        .settings(json!({
            "permissions": {"allow": ["WebFetch(domain:docs.example.com)"]},
            "allowedTools": ["NotebookEdit"],
        }))
        .env("HTTPS_PROXY", proxy)
        .env("NODE_EXTRA_CA_CERTS", certificate)
        .leaves(["plot.ipynb"])
        .check(move |workplace, findings| {
            let notebook = workplace.read("plot.ipynb");
            findings.contains("the notebook", &notebook, "print('hello')");
            findings.same("requests", site.requests().as_str(), "GET /guide\n");
        })
}

async fn a_granted_tool_is_offered_and_another_is_denied(build: Build) {
    run_chores(Backend::Claude(build.version), [granted_tools()]);
}

on_newer_build![a_granted_tool_is_offered_and_another_is_denied];
