//! Projects in JavaScript, Python and Rust that the agent builds and tests.

use crate::backends::run_script::{runs, writes};
use crate::everyday::chore::Chore;

const PACKAGE: &str = r#"{
  "name": "greeting",
  "version": "1.0.0",
  "scripts": {
    "build": "node scripts/build.js",
    "test": "node --test"
  }
}
"#;

const INDEX: &str = "module.exports = (name) => `hello, ${name}`;\n";

const BUILD: &str = "const fs = require('fs');
fs.mkdirSync('dist', { recursive: true });
fs.copyFileSync('src/index.js', 'dist/index.js');
console.log('built dist/index.js');
";

const NODE_TEST: &str = "const test = require('node:test');
const assert = require('node:assert');
const greet = require('../src/index.js');
test('greets', () => assert.equal(greet('Ada'), 'hello, Ada'));
";

/// A package with scripts: installed, built and tested.
pub(crate) fn node_project() -> Chore {
    let calls = [
        writes("web/package.json", PACKAGE),
        writes("web/src/index.js", INDEX),
        writes("web/scripts/build.js", BUILD),
        writes("web/test/index.test.js", NODE_TEST),
        runs("cd web && npm install").expects_text("up to date"),
        // Every command starts at the root of the project, whatever the previous one did.
        runs("cd web && npm run build").expects_text("built dist/index.js"),
        runs("cd web && npm test 2>&1 | tail -20").expects_text("# pass 1"),
    ];
    Chore::new("The package builds", calls)
        .leaves(["web"])
        .check(|workplace, findings| {
            findings.same("the build", workplace.read("web/dist/index.js"), INDEX);
        })
}

const PYPROJECT: &str = r#"[build-system]
requires = ["setuptools"]
build-backend = "setuptools.build_meta"

[project]
name = "greeting"
version = "1.0.0"
"#;

const MODULE: &str = "def greet(name):
    return f\"hello, {name}\"


def main():
    print(greet(\"you\"))
";

const PYTHON_TEST: &str = "import unittest

from greeting import greet


class GreetingTest(unittest.TestCase):
    def test_greets(self):
        self.assertEqual(greet(\"Ada\"), \"hello, Ada\")


if __name__ == \"__main__\":
    unittest.main()
";

/// A Python project: tested, and packed into an executable archive.
pub(crate) fn python_project() -> Chore {
    let pack = "mkdir -p lib/dist && \
        python3 -m zipapp lib/src -m greeting:main -o lib/dist/greeting.pyz";
    let calls = [
        writes("lib/pyproject.toml", PYPROJECT),
        writes("lib/src/greeting/__init__.py", MODULE),
        writes("lib/tests/test_greeting.py", PYTHON_TEST),
        runs("PYTHONPATH=lib/src python3 -m unittest discover -s lib/tests -v 2>&1")
            .expects_text("OK"),
        runs(pack),
        runs("python3 lib/dist/greeting.pyz").expects_text("hello, you"),
    ];
    Chore::new("The library builds", calls)
        .leaves(["lib"])
        .check(|workplace, findings| {
            let is_there = workplace.exists("lib/dist/greeting.pyz");
            findings.same("the archive", is_there, true);
        })
}

const MANIFEST: &str = "[package]
name = \"greeting\"
version = \"0.1.0\"
edition = \"2021\"
";

const MAIN: &str = "fn greet(name: &str) -> String {
    format!(\"hello, {name}\")
}

fn main() {
    println!(\"{}\", greet(\"you\"));
}

#[test]
fn it_greets() {
    assert_eq!(greet(\"Ada\"), \"hello, Ada\");
}
";

/// A crate without dependencies: built, tested and run.
pub(crate) fn rust_project() -> Chore {
    let calls = [
        writes("app/Cargo.toml", MANIFEST),
        writes("app/src/main.rs", MAIN),
        runs("cd app && cargo build --offline 2>&1 | tail -3").expects_text("Finished"),
        runs("cd app && cargo test --offline 2>&1 | tail -8").expects_text("1 passed"),
        runs("cd app && cargo run --offline --quiet").expects_text("hello, you"),
    ];
    Chore::new("The crate builds", calls)
        .leaves(["app"])
        .check(|workplace, findings| {
            let is_there = workplace.exists("app/target/debug/greeting");
            findings.same("the program", is_there, true);
        })
}
