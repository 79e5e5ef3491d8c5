//! Credentials of the user, which the agent's tools must not see.

use serde_json::json;

use crate::backends::backend::Backend;
use crate::backends::run_script::{runs, writes};
use crate::everyday::chore::Chore;
use crate::everyday::workplace::{GITHUB_TOKEN, MODEL_KEY, NPM_TOKEN};

/// A credential that only this chore has.
const AWS_KEY: &str = "hush-aws-key";

const ECHO: &str = "echo \"key=[$ANTHROPIC_API_KEY$OPENAI_API_KEY$GEMINI_API_KEY$THE_KEY] \
                    github=[$GITHUB_TOKEN$AWS_SECRET_ACCESS_KEY] npm=[$NPM_TOKEN]\"";

/// Searches the environment of every visible process.
const SEARCH_SCRIPT: &str = "import glob

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

/// Prints variables, and reads `/proc/*/environ` with a command that the policy denies and with its
/// own program.
pub(crate) fn credentials(backend: Backend) -> Chore {
    let secrets = format!("'{MODEL_KEY}', '{GITHUB_TOKEN}', '{AWS_KEY}'");
    let mut calls = vec![
        runs(ECHO).expects_text(format!("key=[] github=[] npm=[{NPM_TOKEN}]")),
        writes("look.py", SEARCH_SCRIPT.replace("SECRETS", &secrets)),
        runs("python3 look.py").expects_text("some: True, found: []"),
    ];
    // Gemini CLI runs read-only commands without asking the gate.
    if backend != Backend::Gemini {
        calls.push(runs("cat /proc/*/environ").denied());
        calls.push(runs("tr '\\0' '\\n' < /proc/$PPID/environ").denied());
    }
    Chore::new("The credentials are safe", calls)
        .settings(json!({"environment": {"allow": ["NPM_TOKEN"]}}))
        .env("AWS_SECRET_ACCESS_KEY", AWS_KEY.to_owned())
        .prints("warning: agents get the variable NPM_TOKEN from your environment")
        .leaves(["look.py"])
}
