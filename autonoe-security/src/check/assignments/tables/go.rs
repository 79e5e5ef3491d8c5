//! Go and its tools.

use super::{Group, Reach};
use crate::Rule;
use crate::check::assignments::accepted_values::AcceptedValues::{
    AnythingKnown, BuildFolder, Options, Output, ProjectPath, Toolchain, Word,
};

/// Flags of the go command that run no other program and write no file.
const GOFLAGS: &[&str] = words!(
    "-mod=* --mod=* -count=* -race -v -x -n -a -short -json -cover -tags=* --tags=* -p=* -trimpath",
    "-buildvcs=* -timeout=* -covermode=* -coverpkg=* -failfast -shuffle=* -run=* -skip=* -bench=*",
    "-benchtime=* -benchmem -parallel=* -cpu=* -vet=off -vet=all -modcacherw -msan -asan",
    "-ldflags=-s -ldflags=-w -gcflags=-N -gcflags=-l -gcflags=all=-N -gcflags=all=-l",
    "-buildmode=default -buildmode=pie -buildmode=exe -linkshared",
);

pub(in crate::check::assignments) const GROUPS: &[Group] = &[
    Group {
        rule: Rule::R15,
        reason: "the variable changes which programs run or what they load",
        names: "GOCACHEPROG GOENV GOROOT",
        prefixes: "CGO_",
        accepts: &[
            ("GOFLAGS", Options(GOFLAGS)),
            ("CGO_ENABLED", AnythingKnown),
            ("GOTOOLCHAIN", Toolchain),
        ],
        ..Group::NONE
    },
    Group {
        reason: "go runs, trusts or downloads what it names",
        names: "GOAUTH GOVCS GOPACKAGESDRIVER GOPACKAGESPRINTDRIVERERRORS GOTOOLDIR GCCGO \
            GCCGOTOOLDIR GOGCCFLAGS GO_EXTLINK_ENABLED GO_LDSO GOROOT_FINAL GOROOT_BOOTSTRAP \
            GOINSECURE GONOPROXY GONOSUMCHECK GONOSUMDB GOPRIVATE GOTELEMETRYDIR GOMOD GOHOSTOS GOHOSTARCH \
            GO_BUILDER_NAME GO_DISTFLAGS GO_GCFLAGS GO_LDFLAGS GOSSAFUNC GOSSADIR GOCLOBBERDEADHASH",
        prefixes: "TOOLEXEC_ GOTELEMETRY",
        accepts: &[
            ("GOPATH GOCACHE GOMODCACHE GOTMPDIR GOCOVERDIR", Output),
            ("GOBIN", BuildFolder),
            ("GOWORK", ProjectPath),
            (
                "GOPROXY",
                Options(words!(
                    "off direct https://proxy.golang.org https://proxy.golang.org,direct",
                    "https://proxy.golang.org,off https://proxy.golang.org|direct",
                )),
            ),
            ("GOSUMDB", Options(words!("sum.golang.org"))),
        ],
        ..Group::NONE
    },
    Group {
        reason: "a tool loads code, reads options or writes files that it names",
        reach: Reach::NamesAnywhere,
        prefixes: "GOLANGCI_ STATICCHECK_ GORELEASER_ GOPLS_ DELVE_ DLV_ GOIMPORTS_ GOTESTSUM_",
        names: "GORELEASER_FORCE_TOKEN GORELEASER_KEY DELVE_EDITOR STATICCHECK_CACHE",
        free: "GORELEASER_CURRENT_TAG GORELEASER_PREVIOUS_TAG GOTESTSUM_FORMAT",
        accepts: &[
            ("GOLANGCI_LINT_CACHE", Output),
            ("GOTESTSUM_JUNITFILE GOTESTSUM_JSONFILE", Output),
            ("GOLANGCI_LINT_COLOR", Word),
        ],
        ..Group::NONE
    },
];
