//! Runs allowed commands that name a file with credentials, and checks that none prints it.

use std::fs;
use std::path::Path;
use std::process::{Command, Stdio};

use autonoe_security::{BashSecurity, BashValidator, Mode, Policy, PolicyConfig, PolicyScope};
use tempfile::TempDir;

use super::project::tokens;
use super::{ROUNDS, SEED};
use crate::common::mutate::{Mutator, number};

/// The content of the file.
const SECRET: &str = "machine-hunter2";

/// Tokens of a command, in many spellings of the same options. `~/.netrc` is the file.
const TOKENS: &str = r#"
sed  sed -n  sed -ne p  sed --quiet  sed --exp=p  sed --expression  -e p  --expr p  -s  p
awk  awk 1  gawk  gawk --source=1  --sour 1  -e 1  -F :  -v x=1  '{print}'  1
jq  jq .  jq -n  jq -R .  jq --from-file  -R  -n  -f  --rawfile a  --slurpfile a  '$a'  env
'{a:env}'  'env.HOME'  '$ENV'  --arg a b  --args  -nR
sort  sort --files0-from=-  --files0=-  --fil  -u  sort -m  --merge
du  du -a  du --files0=-  --files0-from  wc  wc -c  wc --files0=-  --files0
grep x  grep -e .  grep --regex=.  grep -A 1  grep -r .  grep --file  -h  -f  --fil
rg .  rg -e.  rg --files  fd .  fd --search-path  --base-directory  -x cat  -X cat
xargs  xargs cat  x\args cat  'xargs' head  xargs -I{}  {}  xargs -a  --arg-file  -n1
cat  head -1  tail  tac  nl  od -c  strings  base64  cut -c1-  paste  echo  printf '%s\n'
printf -v f %s  ls  stat  realpath  basename  test -f  [[  ]]  =~  .*  true
read f  read  r\ead f  mapfile -t a  while read f; do  done  "$f"  $f  "$_"  $_  "$REPLY"
"${a[0]}"  "$BASH_REMATCH"  <  <<<  >  /dev/null  |  |  ;  ;  &&  {  }  (  )  --  -
~/.netrc  ~/.netrc  ~/.netrc  ~/.netrc  "$HOME/.netrc"  ~/x/../.netrc  ~  a  .  $(  )  `
find ~ -name .netrc  -exec cat {} +  bash -c  'cat ~/.netrc'  'xargs cat'  timeout 1  env
"#;

fn command(random: &mut Mutator, tokens: &[&str]) -> String {
    let count = 2 + random.below(7);
    let words: Vec<&str> = (0..count)
        .map(|_| tokens[random.below(tokens.len())])
        .collect();
    words.join(" ")
}

/// Runs a command in `project`, and returns everything that it prints.
fn output(project: &Path, home: &Path, command: &str) -> String {
    let output = Command::new("timeout")
        .args(["-s", "KILL", "1", "bash", "-c", command])
        .current_dir(project)
        .env("HOME", home)
        .stdin(Stdio::null())
        .output()
        .expect("timeout is there (coreutils)");
    let text = [output.stdout, output.stderr].concat();
    String::from_utf8_lossy(&text).into_owned()
}

/// A project and a home with a secret.
fn folders() -> (TempDir, TempDir) {
    // Everything below `/tmp` may be read.
    let folder = || TempDir::new_in("/var/tmp").expect("a directory");
    let (project, home) = (folder(), folder());
    fs::write(project.path().join("a"), "x\n").expect("writable");
    fs::create_dir(home.path().join("x")).expect("writable");
    fs::write(home.path().join(".netrc"), SECRET).expect("writable");
    (project, home)
}

#[test]
fn allowed_commands_print_no_secret() {
    let (project, home) = folders();
    let scope = PolicyScope {
        mode: Mode::Sync,
        home: Some(home.path().display().to_string()),
        ..PolicyScope::new(project.path().display().to_string())
    };
    let config = PolicyConfig::default();
    let validator = BashValidator::new(Policy::new(scope, config).expect("a good policy"));
    let tokens = tokens(TOKENS);
    let mut random = Mutator::new(number(SEED, 11), Vec::new());
    let mut ran = 0;
    for _ in 0..number(ROUNDS, 40_000) {
        let command = command(&mut random, &tokens);
        if !command.contains(".netrc") || !validator.check(&command).is_allowed() {
            continue;
        }
        ran += 1;
        let printed = output(project.path(), home.path(), &command);
        assert!(!printed.contains(SECRET), "{command} printed {printed}");
    }
    eprintln!("{ran} commands run, 0 violations");
    assert!(ran > 50, "only {ran} commands were allowed");
}

#[test]
fn the_oracle_sees_a_secret() {
    let (project, home) = folders();
    for command in [
        "cat ~/.netrc",
        "sed --exp=p ~/.netrc",
        "echo ~/.netrc | x\\args cat",
        "test -f ~/.netrc && cat \"$_\"",
    ] {
        let printed = output(project.path(), home.path(), command);
        assert!(printed.contains(SECRET), "{command}");
    }
}
