//! Programs that no runner may start.

const DENIED_PROGRAMS: &[&str] = words!(
    "sh bash zsh dash ksh fish csh tcsh busybox rm mv rmdir unlink shred dd sudo su doas chown",
    "chgrp chmod ln curl wget nc ncat netcat socat ssh scp sftp rsync telnet ftp eval exec env",
    "xargs tee kill killall systemctl service crontab at mount umount docker podman kubectl perl",
    "awk gawk mawk sed ed vi vim nano emacs osascript rimraf del-cli shx trash-cli truncate",
    "fkill fkill-cli del premove trash",
);

/// Returns whether the program `name` is on the list.
pub(in crate::check::commands) fn contains(name: &str) -> bool {
    DENIED_PROGRAMS.contains(&name)
}
