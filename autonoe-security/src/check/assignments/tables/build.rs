//! Variables of compilers, linkers, `make` and build libraries, with the values that commands may assign.

use super::{Group, Reach};
use crate::Rule;
use crate::check::assignments::accepted_values::AcceptedValues::{
    Number, Options, Output, Settings, SystemFolder, Word,
};

/// Options of C compilers and linkers that neither load plugins nor name other programs or outputs.
pub(in crate::check::assignments) const COMPILER: &[&str] = words!(
    "-O* -g -g0 -g1 -g2 -g3 -ggdb -ggdb3 -Wall -Wextra -Werror* -Wno-* -Wpedantic -pedantic -w -D*",
    "-Wcast-* -Wconversion -Wdeprecated* -Wdouble-promotion -Wduplicated-* -Weverything -Wformat*",
    "-Wimplicit-* -Wlogical-op -Wmissing-* -Wnon-virtual-dtor -Wnull-* -Wold-* -Woverloaded-virtual",
    "-Wshadow* -Wsign-* -Wstrict-* -Wswitch* -Wundef -Wuninitialized -Wunused* -Wvla",
    "-U* -std=* -march=* -mtune=* -mcpu=* -m32 -m64 -msse* -mavx* -fPIC -fpic -fPIE -pie -fno-*",
    "-fsanitize=* -fstack-protector* -fvisibility=* -fcommon -flto -flto=auto -flto=thin",
    "-flto=full -fomit-frame-pointer -fopenmp -pthread -pipe -static -shared -s -I* -L* -l*",
    "-stdlib=* -arch~x86_64 -arch~arm64 -mmacosx-version-min=* -fuse-ld=lld -fuse-ld=mold",
    "-fuse-ld=gold -fuse-ld=bfd -Wl,--as-needed -Wl,-O1 -Wl,-z,relro -Wl,-z,now -Wl,-z,noexecstack",
    "-Wl,-z,defs -Wl,--no-undefined -Wl,--gc-sections",
);

/// Settings of sanitizers that neither name a file nor a program.
const SANITIZER: &[&str] = words!(
    "abort_on_error alloc_dealloc_mismatch allocator_may_return_null atexit_sleep_ms",
    "check_initialization_order color detect_container_overflow detect_deadlocks",
    "detect_invalid_pointer_pairs detect_leaks detect_odr_violation",
    "detect_stack_use_after_return die_after_fork disable_coredump exit_code exitcode",
    "fast_unwind_on_malloc halt_on_error handle_abort handle_segv handle_sigbus handle_sigfpe",
    "handle_sigill history_size leak_check_at_exit malloc_context_size max_leaks",
    "new_delete_type_mismatch print_stacktrace print_stats print_summary quarantine_size_mb",
    "report_bugs report_objects report_signal_unsafe second_deadlock_stack",
    "silence_unsigned_overflow strict_init_order strict_string_checks symbolize use_sigaltstack",
    "use_unaligned verbosity",
);

pub(in crate::check::assignments) const GROUPS: &[Group] = &[
    Group {
        rule: Rule::R15,
        reason: "the variable changes which programs run or what they load",
        names: "AR CC CXX LD",
        ..Group::NONE
    },
    Group {
        reason: "builds run the program that it names",
        reach: Reach::Exported,
        names: "AS CPP FC F77 NM RANLIB STRIP OBJCOPY OBJDUMP READELF WINDRES LEX YACC MAKE CMAKE \
            NINJA MESON PROTOC CROSS_COMPILE HOST_CC TARGET_CC HOST_CXX TARGET_CXX CCACHE_PREFIX \
            LLVM_CONFIG CLANG_PATH LIBCLANG_PATH PYTHON PYTHON3 GCC_PATH CONFIG_SHELL CONFIG_SITE \
            HOSTCC HOSTCXX LINKER AUTOCONF AUTOMAKE LIBTOOL M4 BISON FLEX INSTALL NASM TCLSH SH NVCC \
            CUDACXX CUDA_HOME CUDA_PATH GFORTRAN SWIG CYTHON ZIG JAVA JAVAC JAVA_BIN JAVACMD \
            DESTDIR NPM NODE GO RUSTUP PIP GIT CURL \
            PG_CONFIG MYSQL_CONFIG MARIADB_CONFIG GDAL_CONFIG CURL_CONFIG XML2_CONFIG XSLT_CONFIG \
            CHROMEDRIVER GECKODRIVER SAFARIDRIVER MSEDGEDRIVER WASM_PACK_PATH SENTRYCLI_CDNURL \
            BASH_PATH SUDO_ASKPASS LAUNCH_EDITOR REACT_EDITOR CHROME_BIN CHROME_PATH CHROMIUM_BIN \
            FIREFOX_BIN RUBY UV make rake CUDAHOSTCXX HIPCXX ISPC OBJC OBJCXX SWIFTC",
        prefixes: "CC_ CXX_ AR_ CFLAGS_ CXXFLAGS_ HOST_CFLAGS TARGET_CFLAGS \
            TARGET_A TARGET_C HOST_A HOST_C \
            CMAKE_ MESON_ MESONPY_ SKBUILD_ SCIKIT_BUILD_ MATURIN_ NVCC_ LLVM_SYS_ VCPKG_ CHROMEDRIVER_ \
            GECKODRIVER_ EDGEDRIVER_ SE_ SHARP_ sharp_ WASM_BINDGEN_ NINJA_ SCCACHE_ DISTCC_ LLVM_CONFIG_ LIBCLANG_ BINDGEN_ PROTOC_ CTEST_ CCC_ CLANG_",
        free: "NINJA_STATUS",
        accepts: &[
            (
                "CMAKE_BUILD_PARALLEL_LEVEL CTEST_PARALLEL_LEVEL CTEST_OUTPUT_ON_FAILURE \
                 CTEST_PROGRESS_OUTPUT MESON_TESTTHREADS",
                Number,
            ),
            (
                "CMAKE_BUILD_TYPE CMAKE_EXPORT_COMPILE_COMMANDS CMAKE_COLOR_DIAGNOSTICS",
                Word,
            ),
            (
                "ANDROID_HOME ANDROID_NDK_HOME ANDROID_SDK_ROOT",
                SystemFolder,
            ),
        ],
        ..Group::NONE
    },
    Group {
        reason: "a program reads settings, or runs or writes the files, that it names",
        reach: Reach::Exported,
        names: "DOCKER_HOST DOCKER_CONFIG KUBECONFIG AWS_CONFIG_FILE AWS_SHARED_CREDENTIALS_FILE \
            GOOGLE_APPLICATION_CREDENTIALS ANSIBLE_CONFIG TF_CLI_CONFIG_FILE HELM_PLUGINS WORKON_HOME \
            MATPLOTLIBRC IPYTHONDIR WRANGLER_LOG_PATH",
        prefixes: "JUPYTER_ NUMBA_ TORCH_EXTENSIONS_ TESTCONTAINERS_ HUSKY_ LEFTHOOK_ OVERCOMMIT_",
        free: "JUPYTER_PLATFORM_DIRS JUPYTER_PORT JUPYTER_TOKEN NUMBA_DISABLE_JIT NUMBA_NUM_THREADS \
            NUMBA_DEBUG NUMBA_DISABLE_CUDA TESTCONTAINERS_RYUK_DISABLED LEFTHOOK_EXCLUDE \
            LEFTHOOK_QUIET LEFTHOOK_VERBOSE OVERCOMMIT_DISABLE HUSKY_SKIP_HOOKS HUSKY_SKIP_INSTALL",
        accepts: &[("NUMBA_CACHE_DIR TORCH_EXTENSIONS_DIR", Output)],
        ..Group::NONE
    },
    Group {
        reason: "it adds options to compilers and linkers",
        accepts: &[(
            "CFLAGS CXXFLAGS CPPFLAGS LDFLAGS OBJCFLAGS",
            Options(COMPILER),
        )],
        names: "FFLAGS FCFLAGS ASFLAGS ARFLAGS \
            MYSQLCLIENT_CFLAGS MYSQLCLIENT_LDFLAGS",
        ..Group::NONE
    },
    Group {
        rule: Rule::R15,
        reason: "make reads options, makefiles or commands from it",
        names: "MAKEFLAGS",
        ..Group::NONE
    },
    Group {
        reason: "make reads options, makefiles or commands from it",
        names: "MFLAGS GNUMAKEFLAGS MAKEFILES MAKESHELL MAKEOVERRIDES VPATH",
        prefixes: "MAKE_TERM",
        ..Group::NONE
    },
    Group {
        reason: "compilers search the folders or write the files that it names",
        names: "COMPILER_PATH GCC_EXEC_PREFIX LIBRARY_PATH CPATH C_INCLUDE_PATH CPLUS_INCLUDE_PATH \
            OBJC_INCLUDE_PATH DEPENDENCIES_OUTPUT SUNPRO_DEPENDENCIES GCC_COMPARE_DEBUG LDEMULATION \
            COLLECT_GCC COLLECT_GCC_OPTIONS COLLECT_LTO_WRAPPER COLLECT_NAMES SDKROOT DEVELOPER_DIR",
        ..Group::NONE
    },
    Group {
        rule: Rule::R15,
        reason: "the variable changes which programs run or what they load",
        names: "PKG_CONFIG",
        ..Group::NONE
    },
    Group {
        reason: "pkg-config reads packages and options from the places that it names",
        prefixes: "PKG_CONFIG_",
        free: "PKG_CONFIG_ALLOW_CROSS PKG_CONFIG_ALLOW_SYSTEM_CFLAGS",
        ..Group::NONE
    },
    Group {
        reason: "the compiler cache runs programs and writes files that it names",
        reach: Reach::NamesAnywhere,
        prefixes: "CCACHE_",
        free: "CCACHE_DISABLE CCACHE_MAXSIZE CCACHE_NODIRECT",
        ..Group::NONE
    },
    Group {
        reason: "sanitizers and coverage write files and run the symbolizer that it names",
        names: "ASAN_SYMBOLIZER_PATH MSAN_SYMBOLIZER_PATH LLVM_SYMBOLIZER_PATH \
            GCOV_PREFIX GCOV_PREFIX_STRIP GCOV_ERROR_FILE GCOV_EXIT_AT_ERROR GMON_OUT_PREFIX \
            AFL_PATH",
        accepts: &[
            ("LLVM_PROFILE_FILE", Output),
            (
                "ASAN_OPTIONS UBSAN_OPTIONS TSAN_OPTIONS MSAN_OPTIONS LSAN_OPTIONS HWASAN_OPTIONS \
                 SCUDO_OPTIONS",
                Settings(SANITIZER),
            ),
        ],
        ..Group::NONE
    },
];
