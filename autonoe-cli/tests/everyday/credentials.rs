//! Credentials of the user, which the agent's tools do not get.

use serde_json::json;

use crate::backends::backend::Backend;
use crate::backends::story::{runs, writes};
use crate::build::{Build, on_newer_build};
use crate::everyday::chore::Chore;
use crate::everyday::whole_run::run_chores;
use crate::everyday::workplace::{GITHUB_TOKEN, MODEL_KEY, NPM_TOKEN};

const ECHO: &str = "echo \"key=[$ANTHROPIC_API_KEY$OPENAI_API_KEY$GEMINI_API_KEY$THE_KEY] \
                    github=[$GITHUB_TOKEN] npm=[$NPM_TOKEN]\"";

/// Searches the environment of every process that it can see.
const LOOK: &str = "import glob

seen, found = 0, set()
for path in glob.glob('/proc/[0-9]*/environ'):
    try:
        text = open(path, 'rb').read().decode(errors='replace')
    except OSError:
        continue
    seen += 1
    found |= {secret for secret in (SECRETS) if secret in text}
print(f'some: {seen > 0}, found: {sorted(found)}')
";

/// Prints variables, reads `/proc/*/environ` by a command that the policy refuses, and by a program
/// of its own.
pub(crate) fn credentials(backend: Backend) -> Chore {
    let secrets = format!("'{MODEL_KEY}', '{GITHUB_TOKEN}'");
    let mut calls = vec![
        runs(ECHO).showing(format!("key=[] github=[] npm=[{NPM_TOKEN}]")),
        writes("look.py", LOOK.replace("SECRETS", &secrets)),
        runs("python3 look.py").showing("some: True, found: []"),
    ];
    // Gemini CLI runs commands that only read without asking.
    if backend != Backend::Gemini {
        calls.push(runs("cat /proc/*/environ").denied());
    }
    Chore::new("The credentials are safe", calls)
        .settings(json!({"environment": {"allow": ["NPM_TOKEN"]}}))
        .prints("warning: agents get the variable NPM_TOKEN from your environment")
        .leaves(["look.py"])
}

async fn tools_get_only_allowed_credentials(build: Build) {
    let backend = Backend::Claude(build.version);
    run_chores(backend, [credentials(backend)]);
}

on_newer_build![tools_get_only_allowed_credentials];
