//! Converts an [`OsSandbox`] to the options of bubblewrap.

use std::collections::BTreeMap;
use std::ffi::OsString;
use std::os::unix::ffi::OsStrExt;
use std::path::Path;

use super::mounts::{Access, Mount, plan};
use super::resolve_paths::bytes;
use super::{Network, OsSandbox, SandboxError};

/// Size limit of each of `/tmp` and `/dev/shm` in bytes: 1 GiB. They are in memory.
const TEMPORARY_LIMIT: &str = "1073741824";

impl OsSandbox {
    /// Returns the options for bubblewrap, each followed by a zero byte.
    pub(super) fn options(
        &self,
        directory: &Path,
        env: &BTreeMap<OsString, OsString>,
    ) -> Result<Vec<u8>, SandboxError> {
        let mut options = Options::default();
        self.separate(&mut options);
        options.add("--ro-bind", &[b"/", b"/"]);
        mount(&mut options, &plan(self.requested_mounts()?)?);
        for (name, value) in env {
            options.add("--setenv", &[name.as_bytes(), value.as_bytes()]);
        }
        options.add("--chdir", &[&bytes(directory)]);
        Ok(options.0)
    }

    fn separate(&self, options: &mut Options) {
        for option in [
            "--unshare-user",
            "--unshare-pid",
            "--unshare-ipc",
            "--unshare-uts",
            "--unshare-cgroup-try",
            "--new-session",
            "--die-with-parent",
        ] {
            options.add(option, &[]);
        }
        // Root would keep all capabilities, which would allow it to remove mounts.
        options.add("--cap-drop", &[b"ALL"]);
        if self.network == Network::Off {
            options.add("--unshare-net", &[]);
        }
        // User namespaces are a common start of kernel exploits.
        options.add("--disable-userns", &[]);
    }
}

fn mount_memory(options: &mut Options, path: &[u8]) {
    options.add("--size", &[TEMPORARY_LIMIT.as_bytes()]);
    options.add("--tmpfs", &[path]);
}

/// The `/dev` of bubblewrap is memory without a limit, and all of it is writable.
fn mount_devices(options: &mut Options) {
    options.add("--dev", &[b"/dev"]);
    mount_memory(options, b"/dev/shm");
    options.add("--remount-ro", &[b"/dev"]);
}

/// Entries of `/proc` can change the whole machine. Bubblewrap protects some of them, by a test that
/// fails with the permissions of root.
fn mount_processes(options: &mut Options) {
    options.add("--proc", &[b"/proc"]);
    options.add("--remount-ro", &[b"/proc"]);
}

fn mount(options: &mut Options, plan: &[Mount]) {
    let mut read_only_at_last = Vec::new();
    for Mount { place, access } in plan {
        let path = bytes(&place.path);
        match access {
            Access::Own if path == b"/dev" => mount_devices(options),
            Access::Own if path == b"/proc" => mount_processes(options),
            Access::Own => mount_memory(options, &path),
            Access::Writable => options.add("--bind", &[&path, &path]),
            Access::ReadOnly => options.add("--ro-bind", &[&path, &path]),
            Access::Hidden if place.is_directory => {
                options.add("--tmpfs", &[&path]);
                // Mount points are still to be created in it.
                read_only_at_last.push(path);
            }
            Access::Hidden => options.add("--ro-bind", &[b"/dev/null", &path]),
        }
    }
    for path in read_only_at_last {
        options.add("--remount-ro", &[&path]);
    }
}

#[derive(Debug, Default)]
struct Options(Vec<u8>);

impl Options {
    fn add(&mut self, option: &str, values: &[&[u8]]) {
        for part in [option.as_bytes()].iter().chain(values) {
            self.0.extend_from_slice(part);
            self.0.push(0);
        }
    }
}

#[cfg(all(test, target_os = "linux"))]
mod tests {
    use super::*;

    fn words(sandbox: &OsSandbox, env: &[(&str, &str)]) -> String {
        let env = env
            .iter()
            .map(|(name, value)| (name.into(), value.into()))
            .collect();
        let options = sandbox.options(Path::new("/srv"), &env).expect("a plan");
        let text = String::from_utf8(options).expect("plain names");
        text.replace('\0', " ")
    }

    #[test]
    fn nothing_is_shared_by_default() {
        let text = words(&OsSandbox::new("/usr/bin/bwrap"), &[("A", "b c")]);

        for words in [
            "--unshare-user ",
            "--unshare-pid ",
            "--unshare-ipc ",
            "--unshare-uts ",
            "--unshare-net ",
            "--disable-userns ",
            "--cap-drop ALL ",
            "--new-session ",
            "--die-with-parent ",
            "--ro-bind / / ",
            "--dev /dev --size 1073741824 --tmpfs /dev/shm --remount-ro /dev ",
            "--proc /proc --remount-ro /proc ",
            "--size 1073741824 --tmpfs /tmp ",
            "--setenv A b c ",
            "--chdir /srv ",
        ] {
            assert!(text.contains(words), "{words} is not in {text}");
        }
        assert!(!text.contains(" --bind "), "{text}");
    }

    #[test]
    fn allowed_access_is_in_the_options() {
        let sandbox = OsSandbox::new("/usr/bin/bwrap")
            .network(Network::Shared)
            .writable("/srv");

        let text = words(&sandbox, &[]);

        assert!(!text.contains("--unshare-net"), "{text}");
        assert!(text.contains(" --bind /srv /srv "), "{text}");
    }
}
