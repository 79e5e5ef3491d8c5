//! Names of the sync repository: its folder, and the refs that record each step, so that the next
//! process can detect a kill.

/// Folder of the sync repository in the folder of a run.
pub const SYNC_REPO: &str = "sync.git";

/// The current commit of the project: the folder contains it and the work since.
pub(crate) const CURRENT: &str = "refs/git-sync/current";

/// The commit that is being checked out. The previous state is kept already.
pub(crate) const TARGET: &str = "refs/git-sync/target";

/// The commit that was last about to be pushed. The remote may or may not have it.
pub(crate) const PUSHING: &str = "refs/git-sync/pushing";

/// The commit that this host pushed last and that is still the latest known one.
pub(crate) const PUBLISHED: &str = "refs/git-sync/published";

/// The last known commit of the run's branch.
pub(crate) const TIP: &str = "refs/git-sync/tip";

/// The last known commit of the base.
pub(crate) const BASE: &str = "refs/git-sync/base";

/// The commit of the agents' repository.
pub(crate) const AGENTS: &str = "refs/git-sync/agents";

/// The refs of a quarantined repository, while it is searched.
pub(crate) const QUARANTINE: &str = "refs/git-sync/quarantine/";

/// Kept work that exists nowhere else.
pub(crate) const UNPUBLISHED: &str = "refs/git-sync/kept/";
