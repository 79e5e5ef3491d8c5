//! What bubblewrap means by what it says.

/// What stands in the way of a sandbox.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum Obstacle {
    /// The kernel does not let this user make namespaces.
    NamespacesForbidden,
    /// There are no namespaces to be had any more.
    NamespacesUsedUp,
    /// AppArmor does not let this program use its namespace.
    AppArmor,
    /// A container around this program keeps it from what a sandbox takes.
    Container,
    /// This bubblewrap is too old to forbid further sandboxes inside.
    TooOld,
    /// It did not answer in time.
    Hangs,
    /// Something else.
    Other,
}

/// What the system says about namespaces of users, where it says anything.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct Settings {
    /// `kernel.unprivileged_userns_clone`
    pub(super) clone: Option<u64>,
    /// `user.max_user_namespaces`
    pub(super) most: Option<u64>,
    /// `kernel.apparmor_restrict_unprivileged_userns`
    pub(super) apparmor: Option<u64>,
}

impl Obstacle {
    /// Finds out what stands in the way, by what bubblewrap says and how the system is set.
    ///
    /// The words are those of bubblewrap 0.4 to 0.11.
    pub(super) fn find(said: &str, settings: Settings) -> Self {
        let says = |words: &str| said.contains(words);
        let about_namespaces = says("reating new namespace")
            || says("o create a new namespace")
            || says("o creating new namespace")
            || says("o create new namespace")
            || says("user namespaces")
            || says("uid map");
        if says("nknown option") {
            Self::TooOld
        } else if says("ENOSPC") || says("No space left") || settings.most == Some(0) {
            Self::NamespacesUsedUp
        } else if about_namespaces && settings.clone == Some(0) {
            Self::NamespacesForbidden
        } else if settings.apparmor == Some(1) && (about_namespaces || says("RTM_NEWADDR")) {
            Self::AppArmor
        } else if about_namespaces {
            Self::NamespacesForbidden
        } else if says("mount proc")
            || says("RTM_NEWADDR")
            || says("/ slave")
            || says("max_user_namespaces")
            || says("pivot_root")
        {
            Self::Container
        } else {
            Self::Other
        }
    }

    /// Returns what a person can do about it.
    pub fn remedy(self) -> &'static str {
        match self {
            Self::NamespacesForbidden => {
                "let users make namespaces (sysctl kernel.unprivileged_userns_clone=1), or, in a \
                 container, let that be the sandbox and switch this one off"
            }
            Self::NamespacesUsedUp => {
                "allow more of them (sysctl user.max_user_namespaces=10000); a sandbox that \
                 forbids further ones cannot hold this one"
            }
            Self::AppArmor => {
                "give bwrap a profile with `userns,` (Ubuntu: package apparmor-profiles, \
                 bwrap-userns-restrict), or sysctl kernel.apparmor_restrict_unprivileged_userns=0"
            }
            Self::Container => {
                "start the container with the rights to mount (Docker: --security-opt \
                 seccomp=unconfined --security-opt systempaths=unconfined), or let it be the \
                 sandbox and switch this one off"
            }
            Self::TooOld => "install bubblewrap 0.8 or later",
            Self::Hangs | Self::Other => "see what it says",
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const SILENT: Settings = Settings {
        clone: None,
        most: None,
        apparmor: None,
    };

    #[test]
    fn what_bubblewrap_says_is_understood() {
        let no_permissions = "bwrap: No permissions to create a new namespace, likely because the \
                              kernel does not allow non-privileged user namespaces.";
        let apparmor = Settings {
            clone: Some(1),
            apparmor: Some(1),
            ..SILENT
        };
        let forbidden = Settings {
            clone: Some(0),
            ..apparmor
        };
        for (said, settings, obstacle) in [
            (no_permissions, SILENT, Obstacle::NamespacesForbidden),
            (no_permissions, forbidden, Obstacle::NamespacesForbidden),
            (no_permissions, apparmor, Obstacle::AppArmor),
            (
                "bwrap: No permissions to creating new namespace, likely because the kernel",
                SILENT,
                Obstacle::NamespacesForbidden,
            ),
            (
                "bwrap: Creating new namespace failed: Permission denied",
                SILENT,
                Obstacle::NamespacesForbidden,
            ),
            (
                "bwrap: setting up uid map: Permission denied",
                apparmor,
                Obstacle::AppArmor,
            ),
            (
                "bwrap: loopback: Failed RTM_NEWADDR: Operation not permitted",
                apparmor,
                Obstacle::AppArmor,
            ),
            (
                "bwrap: loopback: Failed RTM_NEWADDR: Operation not permitted",
                SILENT,
                Obstacle::Container,
            ),
            (
                "bwrap: Creating new namespace failed: nesting depth or \
                 /proc/sys/user/max_*_namespaces exceeded (ENOSPC)",
                SILENT,
                Obstacle::NamespacesUsedUp,
            ),
            (
                no_permissions,
                Settings {
                    most: Some(0),
                    ..SILENT
                },
                Obstacle::NamespacesUsedUp,
            ),
            (
                "bwrap: Can't mount proc on /newroot/proc: Operation not permitted",
                SILENT,
                Obstacle::Container,
            ),
            (
                "bwrap: Failed to make / slave: Operation not permitted",
                SILENT,
                Obstacle::Container,
            ),
            (
                "bwrap: Unknown option --disable-userns",
                SILENT,
                Obstacle::TooOld,
            ),
            ("bwrap: Can't chdir to /x", SILENT, Obstacle::Other),
            ("", SILENT, Obstacle::Other),
        ] {
            assert_eq!(Obstacle::find(said, settings), obstacle, "{said}");
        }
    }

    #[test]
    fn every_obstacle_has_a_remedy() {
        for obstacle in [
            Obstacle::NamespacesForbidden,
            Obstacle::NamespacesUsedUp,
            Obstacle::AppArmor,
            Obstacle::Container,
            Obstacle::TooOld,
            Obstacle::Hangs,
            Obstacle::Other,
        ] {
            assert!(!obstacle.remedy().is_empty(), "{obstacle:?}");
        }
    }
}
