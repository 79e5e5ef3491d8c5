//! Lookup of every package of the image in the index that it comes from.

use std::collections::BTreeSet;
use std::process::{Command, Stdio};

use crate::cargo;
use crate::failure::Failure;

use super::dockerfile::Dockerfile;

/// The release of Debian that the base images have.
const RELEASE: &str = "bookworm";

/// The systems that images are built for.
const ARCHITECTURES: [&str; 2] = ["amd64", "arm64"];

/// Fails with a list of the packages that no index has.
pub(super) fn check(image: &Dockerfile) -> Result<(), Failure> {
    let mut missing = Vec::new();
    let debian = image.operands("apt-get install");
    for architecture in ARCHITECTURES {
        let known = debian_packages(architecture)?;
        let absent = debian.iter().filter(|name| !known.contains(*name));
        missing.extend(absent.map(|name| format!("{name}: not in {RELEASE} for {architecture}")));
    }
    for package in image.operands("npm install") {
        if !npm_has(&package)? {
            missing.push(format!("{package}: not in the npm registry"));
        }
    }
    for package in image.operands("pipx install") {
        if !pypi_has(&package)? {
            missing.push(format!("{package}: not in PyPI"));
        }
    }
    Failure::unless_empty("the image needs packages that do not exist", &missing)
}

/// Returns the names of Debian's packages for a system.
fn debian_packages(architecture: &str) -> Result<BTreeSet<String>, Failure> {
    let url = format!(
        "https://deb.debian.org/debian/dists/{RELEASE}/main/binary-{architecture}/Packages.xz"
    );
    let mut command = Command::new("sh");
    // Without a download, xz fails because its input is empty.
    command.args(["-c", "curl --fail --silent --show-error \"$0\" | xz -dc"]);
    command.arg(&url);
    cargo::announce(&command);
    let output = command
        .stderr(Stdio::inherit())
        .output()
        .map_err(|source| cargo::cannot_start(&command, &source))?;
    cargo::succeeded(&command, output.status)?;
    let names = package_names(&String::from_utf8_lossy(&output.stdout));
    if names.is_empty() {
        Err(Failure::new(format!("{url} lists no package")))
    } else {
        Ok(names)
    }
}

/// Returns the names in an index of Debian.
fn package_names(index: &str) -> BTreeSet<String> {
    let names = index
        .lines()
        .filter_map(|line| line.strip_prefix("Package: "));
    names.map(str::to_owned).collect()
}

/// Returns the address of a package such as `@scope/name@1.2` in the npm registry.
fn npm_address(package: &str) -> Option<String> {
    let (name, version) = package.rsplit_once('@')?;
    (!name.is_empty()).then(|| format!("https://registry.npmjs.org/{name}/{version}"))
}

fn npm_has(package: &str) -> Result<bool, Failure> {
    let address = npm_address(package)
        .ok_or_else(|| Failure::new(format!("{package} is installed without a version")))?;
    let mut curl = Command::new("curl");
    curl.args(["--fail", "--silent", "--output", "/dev/null", &address]);
    succeeds(curl)
}

fn pypi_has(requirement: &str) -> Result<bool, Failure> {
    let mut pip = Command::new("python3");
    pip.args(["-m", "pip", "install", "--dry-run", "--quiet", "--no-deps"]);
    pip.args(["--ignore-installed", "--disable-pip-version-check"]);
    pip.arg(requirement);
    succeeds(pip)
}

fn succeeds(mut command: Command) -> Result<bool, Failure> {
    cargo::announce(&command);
    let status = command
        .stdin(Stdio::null())
        .status()
        .map_err(|source| cargo::cannot_start(&command, &source))?;
    Ok(status.success())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_are_read_from_an_index_of_debian() {
        let index = "Package: jq\nVersion: 1.6\nDescription: Package: none\n\nPackage: uuid\n";

        let names = package_names(index);

        assert_eq!(names, BTreeSet::from(["jq".to_owned(), "uuid".to_owned()]));
    }

    #[test]
    fn a_package_of_npm_has_a_version_and_an_address() {
        for (package, address) in [
            ("bun@1.4.4", Some("https://registry.npmjs.org/bun/1.4.4")),
            ("@a/b@2", Some("https://registry.npmjs.org/@a/b/2")),
            ("bun", None),
            ("@a/b", None),
        ] {
            assert_eq!(npm_address(package).as_deref(), address, "{package}");
        }
    }
}
