//! Runs the allowed `xargs` commands on hostile input.

use autonoe_security::BashSecurity;

use super::project::{Project, tokens};
use super::{ROUNDS, SEED};
use crate::common::mutate::{Mutator, number};

/// Lines that become arguments: options that write, commands, and protected files.
const INPUT: &str = "made
-i
--in-place=.bak
-delete
--output=made
-omade
-o made
w made
s/a/b/w made
1e touch made
-exec touch made ;
-fprint made
; touch made
$(touch made)
`touch made`
'made'
.git/config
.autonoe/status.json
../made
-f input
{}
%
-x touch made
--pre=./made
BEGIN{system(\"touch made\")}
";

/// Tokens of a command.
const TOKENS: &str = r#"
-n1  -n 2  -0  -I{}  -I {}  -I %  -d '\n'  -r  -t  -P2  -L1  -a input  --replace  -i  -E x
-x  -s 999  --max-args=1  --arg-file=input  --  {}  %  cat  ls  wc -l  head -1  tail  sort
sort -u  uniq  grep x  grep -l x --  grep -e x  sed -n p  sed -n  sed -i s/a/b/
awk '{print}'  awk  find  find .  echo  printf  printf '%s\n'  touch  touch --  tee  cp a
cp -t .  mkdir -p  git add  git log --  git diff  sh -c  bash -c  'cat "$1"'  'cat {}'
'{}'  'touch {}'  _  -e  -l  cut -c1  tr a b  jq .  stat  file  xxd  basename  dirname
realpath  env  env A=1  nice  timeout 1  time  command  nohup  test -f  rg x  fd  diff a
cmp a  comm a  paste  od -c  strings  base64  sha256sum  du  tree  date  xargs  kill
rmdir  chmod +x  echo x  column  sleep 0  shuf  nl  readlink  kill -0  bash -n  curl -s
"#;

fn command(random: &mut Mutator, tokens: &[&str]) -> String {
    let mut text = ["xargs", "cat input | xargs", "xargs -I{}"][random.below(3)].to_owned();
    for _ in 0..=random.below(4) {
        text.push(' ');
        text.push_str(tokens[random.below(tokens.len())]);
    }
    match random.below(3) {
        0 => text,
        _ => text + " < input",
    }
}

#[test]
fn allowed_xargs_commands_change_nothing_whatever_their_input_is() {
    let project = Project::new(&[("input", INPUT), ("a", "x\n")]);
    let (validator, mut before) = (project.validator(), project.files());
    // Commands may change it, and create files, by names that do not come from the input.
    before.remove("project/a");
    let mut random = Mutator::new(number(SEED, 7), Vec::new());
    let tokens = tokens(TOKENS);
    let mut ran = 0;
    for _ in 0..number(ROUNDS, 1_000) {
        let command = command(&mut random, &tokens);
        if !validator.check(&command).is_allowed() {
            continue;
        }
        ran += 1;
        project.run(&command);
        let mut after = project.files();
        after.retain(|path, _| before.contains_key(path) || path.contains("made"));
        assert_eq!(after, before, "{command}");
    }
    eprintln!("{ran} commands run, 0 violations");
    assert!(
        ran > 100,
        "only {ran} commands were allowed, which shows little"
    );
}

#[test]
fn a_change_by_xargs_is_seen() {
    for command in [
        "xargs -d '\\n' touch < input",
        "xargs -I{} sh -c '{}' < input",
    ] {
        let project = Project::new(&[("input", "made\ntouch made\n")]);
        let before = project.files();

        project.run(command);

        assert_ne!(project.files(), before, "{command}");
    }
}
