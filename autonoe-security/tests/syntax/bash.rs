//! The real Bash, as a reference for the parser.

use std::io::{BufRead, BufReader, Write};
use std::process::{Child, ChildStdin, ChildStdout, Command, Stdio};

/// Reads texts that end with a zero byte, and answers each with `1` if Bash accepts it silently.
/// After `set -n` a shell parses commands and runs none.
const SYNTAX: &str = r#"
while IFS= read -r -d '' text; do
    complaints=$({ eval "set -n
$text"; } 2>&1)
    if [ -z "$complaints" ]; then printf '1\0'; else printf '0\0'; fi
done"#;

/// Reads words, and answers with their text after removing quotes and braces.
const WORDS: &str = r#"
set -f
HOME=/home/me
while IFS= read -r -d '' text; do
    answer=$({ eval "set -- $text" && printf '%s\37' "$#" "$@"; } 2>/dev/null)
    printf '%s\0' "$answer"
done"#;

/// A Bash process that answers requests one after another.
pub(crate) struct Bash {
    child: Child,
    questions: Option<ChildStdin>,
    answers: BufReader<ChildStdout>,
}

impl Bash {
    /// Starts a Bash that reports whether it accepts texts.
    pub(crate) fn for_syntax() -> Self {
        Self::running(SYNTAX)
    }

    /// Starts a Bash that reports the text of words.
    pub(crate) fn for_words() -> Self {
        Self::running(WORDS)
    }

    fn running(script: &str) -> Self {
        let mut child = Command::new("bash")
            .args(["--norc", "--noprofile", "-c", script])
            .env_clear()
            .env("LC_ALL", "C.UTF-8")
            .env("PATH", std::env::var_os("PATH").unwrap_or_default())
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(Stdio::null())
            .spawn()
            .expect("bash is installed");
        let questions = child.stdin.take();
        let answers = BufReader::new(child.stdout.take().expect("a pipe"));
        Self {
            child,
            questions,
            answers,
        }
    }

    /// Returns whether Bash accepts `text`.
    pub(crate) fn accepts(&mut self, text: &str) -> bool {
        self.evaluate(text) == "1" || confirms(text)
    }

    /// Returns the words of `text`.
    pub(crate) fn words(&mut self, text: &str) -> Vec<String> {
        let answer = self.evaluate(text);
        let mut fields = answer.split('\x1f').map(str::to_owned);
        let count = fields.next().and_then(|count| count.parse().ok());
        fields.take(count.expect("a number")).collect()
    }

    fn evaluate(&mut self, text: &str) -> String {
        let questions = self.questions.as_mut().expect("it is open");
        let question = [text.as_bytes(), b"\0"].concat();
        questions.write_all(&question).expect("bash reads");
        questions.flush().expect("bash reads");
        let mut answer = Vec::new();
        self.answers
            .read_until(0, &mut answer)
            .expect("bash answers");
        assert_eq!(answer.pop(), Some(0), "bash ended at {text:?}");
        String::from_utf8_lossy(&answer).into_owned()
    }
}

impl Drop for Bash {
    fn drop(&mut self) {
        self.questions = None;
        let _ = self.child.wait();
    }
}

/// Asks a separate Bash process, which is slow.
fn confirms(text: &str) -> bool {
    let output = Command::new("bash").args(["-n", "-c", text]).output();
    let output = output.expect("bash is installed");
    output.status.success() && output.stderr.is_empty()
}
