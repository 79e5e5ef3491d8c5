//! Runs the allowed commands on archives, compressed files and databases.

use autonoe_security::BashSecurity;

use super::project::{Project, tokens};
use super::{ROUNDS, SEED};
use crate::common::mutate::{Mutator, number};

/// Creates archives whose members are protected files, files outside and links to them.
const SETUP: &str = "
mkdir -p m/.git m/.autonoe m/sub build
echo evil > m/.git/config; echo evil > m/.autonoe/status.json; echo evil > m/made
ln -s ../.git m/sub/link; ln -s .git m/link
(cd m && tar -cPf ../evil.tar .git .autonoe made sub link ../m/made && zip -qry ../evil.zip .)
tar -czf evil.tgz evil.tar
cp m/.git/config .git.gz; gzip -cN m/made > y.gz; gzip -c m/made > x.gz
bzip2 -c m/made > x.bz2; xz -c m/made > x.xz; echo m/made > list
sqlite3 x.db 'create table t(a)'
rm -r m
";

/// Tokens of a command.
const TAR: &str = r#"
-tf  -xf  -xOf  -cf  tf  xf  xOf  cf  czf  xzf  -t  -x  -c  -O  -f  -z  -v  -C build  -C ..  -C .git
evil.tar  evil.tgz  out.tar  .git/config  .autonoe/x  ../made  build/o.tar  -  a  src  .  ..
--to-command='touch made'  --to-stdout  -I 'touch made;'  --use-compress-program='touch made'
--checkpoint=1  --checkpoint-action=exec='touch made'  -T list  --remove-files  --exclude=.git
--exclude a  --strip-components=1  -P  -u  -r  -A  --delete  -k  -U  --overwrite  --extract
--list  --create  --file=evil.tar  --file=.git/x  --one-top-level  -w  -F 'touch made'  -M  -g snap
--index-file=.git/x  --transform='s/a/b/'  --wildcards  host:evil.tar  --rsh-command='touch made'
"#;

const COMPRESSION: &str = r#"
-c  -d  -k  -dk  -kf  -t  -l  -r  -N  -dkN  -f  -S .x  -S it  -9  -v  -n  -z  --keep  --stdout  --name
--decompress  --suffix=it  --recursive  --files=list  -T0  a  x.gz  x.bz2  x.xz  y.gz  .git.gz  .g
.git/config  .git  ../home/.netrc  ./*  *.gz  build  ../made  .git*  --  -  < x.gz  > build/o
"#;

const ZIP: &str = r#"
-l  -p  -t  -v  -c  -q  -o  -d build  -d ..  -x a  -j  -n  -Z  --p  -p-p  -lo  evil.zip  made  '.git/*'
-r  -m  -T  -TT 'touch made'  -rT  -9  -y  -@  -u  -b ..  out.zip  .git/o.zip  ../made.zip  a  src  .
-i a  -O .git/x  -lf .git/x  > build/o  build/o.zip  -sf  -MM  -
"#;

const SQLITE: &str = r#"
x.db  :memory:  .git/config  ../made  build/o.db  file:x.db  -safe  -readonly  -header  -csv  -init list
-cmd '.shell touch made'  '.tables'  '.schema'  '.dump'  '.shell touch made'  '.system touch made'
'.output made'  '.once made'  '.read list'  '.backup made'  '.clone made'  '.import list t'  'select 1'
"select load_extension('./x')"  "select writefile('made', 'x')"  "select writefile('.git/config', 'x')"
"select edit('x', 'touch made;')"  "select \"edit\"('x', 'touch made;')"  "attach 'made' as m; create table m.t(a)"
"vacuum into 'made'"  "select readfile('../home/.netrc')"  'insert into t values (1)'  'select * from t'
"create view if not exists v as select count(*) from t"  'select * from v'  'pragma table_info(t)'
"pragma journal_mode=wal"  "create table if not exists u(a)"  'drop table t'  '' ';'  '-- x'  'select 1
.shell touch made'
"#;

const PROGRAMS: &[(&str, &str)] = &[
    ("tar", TAR),
    ("tar", TAR),
    ("gzip", COMPRESSION),
    ("gunzip", COMPRESSION),
    ("zcat", COMPRESSION),
    ("bzip2", COMPRESSION),
    ("bunzip2", COMPRESSION),
    ("xz", COMPRESSION),
    ("unxz", COMPRESSION),
    ("xzcat", COMPRESSION),
    ("unzip", ZIP),
    ("zip", ZIP),
    ("sqlite3", SQLITE),
    ("sqlite3 x.db", SQLITE),
];

fn command(random: &mut Mutator) -> String {
    let (program, list) = PROGRAMS[random.below(PROGRAMS.len())];
    let tokens = tokens(list);
    let mut text = program.to_owned();
    for _ in 0..=random.below(4) {
        text.push(' ');
        text.push_str(tokens[random.below(tokens.len())]);
    }
    text
}

fn project() -> Project {
    let project = Project::new(&[("a", "x\n"), ("src/a", "x\n")]);
    project.run(SETUP);
    project
}

#[test]
fn allowed_commands_on_archives_and_databases_touch_no_protected_file_and_run_nothing() {
    let (mut project, mut ran) = (project(), 0);
    let mut random = Mutator::new(number(SEED, 7), Vec::new());
    for _ in 0..number(ROUNDS, 1_000) {
        let command = command(&mut random);
        if !project.validator().check(&command).is_allowed() {
            continue;
        }
        ran += 1;
        let before = project.protected();
        project.run(&command);
        let is_made = project.files().keys().any(|path| path.ends_with("/made"));
        assert!(!is_made, "{command}");
        assert_eq!(project.protected(), before, "{command}");
        if ran % 50 == 0 {
            project = self::project();
        }
    }
    eprintln!("{ran} commands run, 0 violations");
    assert!(
        ran > 100,
        "only {ran} commands were allowed, which shows little"
    );
}

#[test]
fn effects_of_archives_and_databases_are_observed() {
    for command in [
        "tar -xf evil.tar",
        "tar -xf evil.tar --to-command='touch made'",
        "tar -cf .git/config a",
        "gzip -dkN y.gz",
        "sqlite3 x.db '.shell touch made'",
        "sqlite3 x.db \"select writefile('.git/config', 'x')\"",
    ] {
        let project = project();
        let before = project.protected();

        project.run(command);

        let is_made = project.files().keys().any(|path| path.ends_with("/made"));
        assert!(is_made || project.protected() != before, "{command}");
    }
}
