//! A jail that contains nothing but Bash.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

use tempfile::TempDir;

use super::trace;

/// The project directory, inside the jail.
pub(crate) const PROJECT: &str = "/srv/project";

/// Longer than a batch takes, however busy the machine is.
const DEADLINE: Duration = Duration::from_secs(600);

/// Runs the files of `/cases` one after another, each in a separate Bash, and traces them.
///
/// Bash itself is the only program in the jail, so the driver uses nothing else.
const DRIVER: &str = r#"
cd /srv/project || exit 1
for case in /cases/*; do
  name=${case##*/}
  # All of it, also the ends of lines at its end.
  IFS= read -r -d '' command < "$case"
  (
    ulimit -t 1 -f 2048
    exec 9>"/traces/$name"
    export CASE_NUMBER=$name BASH_XTRACEFD=9 PATH=/none HOME=/home/nobody
    # Bash takes no PS4 from the environment of root.
    export BASH_ENV=/trace-prefix
    exec /bin/bash --norc --noprofile -x -c "$command" </dev/null >/dev/null 2>&1
  )
done >/dev/null 2>&1
wait
"#;

/// Replaces every missing program: some print a number, the others hostile text.
///
///
/// Half of them fail, so that both sides of `&&` and `
///
/// ` are executed. Its own commands are not traced.
const HANDLER: &str = r#"() {
  set +x
  case $1 in
    wc|grep|date) echo 3 ;;
    *)
      case $((10#$CASE_NUMBER % 4)),$1,$2 in
        *,git,rev-list) echo 3 ;;
        0,*) echo 'a[$(evil_output)]' ;;
        1,*) echo '-v a[$(evil_output)]' ;;
        2,*) echo '3 a[$(evil_output)]' ;;
        3,*) echo '-va[$(evil_output)]' ;;
      esac ;;
  esac
  return $(((10#$CASE_NUMBER / 4 + $#) % 2))
}"#;

pub(crate) struct Jail {
    root: TempDir,
}

impl Jail {
    pub(crate) fn new() -> Self {
        let root = tempfile::tempdir().expect("a folder");
        for folder in [
            "bin",
            "cases",
            "traces",
            "srv/project/src",
            "tmp",
            "dev",
            "home/nobody",
        ] {
            fs::create_dir_all(root.path().join(folder)).expect("writable");
        }
        // Ordinary files are sufficient for commands that read or write these.
        for file in [
            "dev/null",
            "dev/tty",
            "srv/project/a.txt",
            "srv/project/f",
            "tmp/dev.log",
        ] {
            fs::write(root.path().join(file), "").expect("writable");
        }
        let bash = Path::new("/bin/bash");
        fs::copy(bash, root.path().join("bin/bash")).expect("bash is there");
        for library in libraries(bash) {
            let place = root
                .path()
                .join(library.strip_prefix("/").expect("absolute"));
            fs::create_dir_all(place.parent().expect("a folder")).expect("writable");
            fs::copy(&library, place).expect("readable");
        }
        fs::write(root.path().join("driver"), DRIVER).expect("writable");
        let prefix = format!("PS4='{}'\n", trace::PREFIX);
        fs::write(root.path().join("trace-prefix"), prefix).expect("writable");
        Self { root }
    }

    /// Runs `commands`, and returns Bash's trace of each; `None` for one that was not started,
    /// because the previous ones have left no room for more processes.
    pub(crate) fn run(&self, commands: &[String]) -> Vec<Option<String>> {
        let path =
            |folder: &str, number: usize| self.root.path().join(format!("{folder}/{number:06}"));
        for (number, command) in commands.iter().enumerate() {
            fs::write(path("cases", number), command).expect("writable");
        }
        self.start();
        let traces = (0..commands.len()).map(|number| {
            let trace = fs::read(path("traces", number)).ok()?;
            Some(String::from_utf8_lossy(&trace).into_owned())
        });
        traces.collect()
    }

    fn start(&self) {
        let mut unshare = Command::new("unshare");
        // In user namespaces every user may create the others.
        unshare.args([
            "--map-root-user",
            "--net",
            "--pid",
            "--fork",
            "--kill-child",
        ]);
        let mut child = unshare
            .arg("chroot")
            .arg(self.root.path())
            .args(["/bin/bash", "--norc", "--noprofile", "/driver"])
            .env_clear()
            .env("PATH", "/usr/sbin:/usr/bin:/sbin:/bin")
            .env("BASH_FUNC_command_not_found_handle%%", HANDLER)
            .stdin(Stdio::null())
            .spawn()
            .expect("unshare is there (util-linux)");
        let started = Instant::now();
        let status = loop {
            if let Some(status) = child.try_wait().expect("ours") {
                break status;
            }
            if started.elapsed() > DEADLINE {
                child.kill().expect("ours");
                panic!("the jail does not come to an end");
            }
            std::thread::sleep(Duration::from_millis(5));
        };
        assert!(
            status.success(),
            "the jail could not be made: are user namespaces allowed here?"
        );
    }
}

/// Returns the libraries that a program is linked with.
fn libraries(program: &Path) -> Vec<PathBuf> {
    let output = Command::new("ldd")
        .arg(program)
        .output()
        .expect("ldd is there");
    let text = String::from_utf8(output.stdout).expect("text");
    let words = text.split_whitespace().filter(|word| word.starts_with('/'));
    words.map(PathBuf::from).collect()
}
