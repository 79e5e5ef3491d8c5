//! Python, its package managers and test tools.

use super::{Group, Reach};
use crate::Rule;
use crate::check::assignments::accepted_values::AcceptedValues::{
    AnythingKnown, BuildFolder, Name, OneOf, Options, Output, ProjectPath, SearchPath, Word,
};

/// Options of pytest that load, run and write nothing.
const PYTEST: &[&str] = words!(
    "-q -qq -v -vv -vvv -s -x -l -ra -rA -rs -rf -rx -rw -n~auto -n~0 -n~1 -n~2 -n~4 -n~8 -p~no:*",
    "--tb=* --color=* --maxfail=* --durations=* --durations-min=* --strict --strict-markers",
    "--strict-config --no-header --no-summary --disable-warnings --ff --lf --nf --failed-first",
    "--last-failed --new-first --sw --stepwise --dist=* --timeout=* --cov --cov-branch --no-cov",
    "--cov-append --cov-fail-under=* --cov-report=term --cov-report=term-missing",
    "--cov-report=term:skip-covered --cov-report=term-missing:skip-covered --import-mode=*",
    "--capture=* --quiet --verbose --verbosity=* --exitfirst --showlocals --reruns=*",
    "--randomly-seed=* --numprocesses=* --co --collect-only --asyncio-mode=*",
);

pub(in crate::check::assignments) const GROUPS: &[Group] = &[
    Group {
        rule: Rule::R15,
        reason: "the variable changes which programs run or what they load",
        names: "PYTHONSTARTUP PYTHONHOME PYTHONBREAKPOINT PYTHONUSERBASE",
        accepts: &[("PYTHONPATH", SearchPath)],
        ..Group::NONE
    },
    Group {
        reason: "Python loads code from it, or writes what it names",
        reach: Reach::NamesAnywhere,
        prefixes: "PYTHON PYO3_ PYENV_ PYTHON_KEYRING_ KEYRING_",
        names: "PYTHONEXECUTABLE PYTHONINSPECT PYTHONPLATLIBDIR PYTHONDUMPREFSFILE PYTHON_HISTORY \
            PYTHON_PRESITE PYTHONPERFSUPPORT PYTHON_PERF_JIT_SUPPORT PYTHONCASEOK PYTHONVERBOSE \
            PYTHON_GIL_DEBUG PYTHONSTATS __PYVENV_LAUNCHER__ _ARGCOMPLETE ENSUREPIP_OPTIONS \
            PYENV_VERSION_FILE PYENV_ROOT",
        free: "PYTHONDONTWRITEBYTECODE PYTHONUNBUFFERED PYTHONHASHSEED PYTHONIOENCODING PYTHONUTF8 \
            PYTHONFAULTHANDLER PYTHONASYNCIODEBUG PYTHONTRACEMALLOC PYTHONDEVMODE PYTHONNOUSERSITE \
            PYTHONSAFEPATH PYTHONOPTIMIZE PYTHONDEBUG PYTHONMALLOC PYTHONMALLOCSTATS \
            PYTHONPROFILEIMPORTTIME PYTHONCOERCECLOCALE PYTHONNODEBUGRANGES PYTHONWARNDEFAULTENCODING \
            PYTHONINTMAXSTRDIGITS PYTHONLEGACYWINDOWSSTDIO PYTHON_COLORS PYTHON_GIL PYTHON_CPU_COUNT \
            PYTHON_FROZEN_MODULES PYTHON_BASIC_REPL PYTHON_ENV PYTHON_VERSION \
            PYO3_PRINT_CONFIG PYO3_USE_ABI3_FORWARD_COMPATIBILITY PYO3_NO_PYTHON",
        accepts: &[
            // A category with a dot is imported as a module.
            ("PYTHONWARNINGS", Word),
            ("PYTHONPYCACHEPREFIX", Output),
            ("PYENV_VERSION", Name),
        ],
        ..Group::NONE
    },
    Group {
        rule: Rule::R15,
        reason: "a package manager reads options, settings or folders from it",
        prefixes: "PIP_ UV_",
        free: "UV_THREADPOOL_SIZE",
        accepts: &[
            ("PIP_DISABLE_PIP_VERSION_CHECK PIP_NO_INPUT", AnythingKnown),
            (
                "PIP_NO_COLOR PIP_QUIET PIP_PROGRESS_BAR PIP_ROOT_USER_ACTION PIP_DEFAULT_TIMEOUT",
                Word,
            ),
            (
                "UV_OFFLINE UV_FROZEN UV_LOCKED UV_NO_SYNC UV_NO_PROGRESS UV_NO_CACHE UV_LINK_MODE \
                 UV_COMPILE_BYTECODE UV_CONCURRENT_DOWNLOADS UV_CONCURRENT_INSTALLS UV_NO_DEV \
                 UV_HTTP_TIMEOUT UV_STACK_SIZE",
                Word,
            ),
            ("UV_PYTHON_DOWNLOADS", OneOf(words!("never manual"))),
            ("UV_PYTHON_PREFERENCE", Word),
            // Without a slash, it is a version or an installed interpreter.
            ("UV_PYTHON", Name),
            ("UV_CACHE_DIR PIP_CACHE_DIR", BuildFolder),
            ("UV_PROJECT_ENVIRONMENT", Output),
        ],
        ..Group::NONE
    },
    Group {
        reason: "a package manager reads options, settings or folders from it",
        reach: Reach::NamesAnywhere,
        prefixes: "_PIP_ POETRY_ PDM_ HATCH_ FLIT_ PIPX_ CONDA_ MAMBA_ VIRTUALENV_ SETUPTOOLS_ \
            DISTUTILS_ PIPENV_ TWINE_ RYE_ PYX_ TRACING_DURATIONS_",
        names: "POETRY_HOME POETRY_CONFIG_DIR PDM_PYTHON PDM_CONFIG_FILE HATCH_CONFIG FLIT_ROOT_INSTALL \
            PIPX_HOME CONDA_PREFIX CONDA_EXE CONDARC CONDA_RC COMP_WORDS COMP_CWORD PIP_AUTO_COMPLETE",
        free: "POETRY_VIRTUALENVS_CREATE POETRY_VIRTUALENVS_IN_PROJECT POETRY_NO_INTERACTION \
            POETRY_INSTALLER_PARALLEL POETRY_INSTALLER_MAX_WORKERS POETRY_KEYRING_ENABLED \
            PDM_CHECK_UPDATE PDM_NON_INTERACTIVE HATCH_VERBOSE HATCH_QUIET CONDA_DEFAULT_ENV \
            SETUPTOOLS_USE_DISTUTILS",
        accepts: &[
            ("VIRTUAL_ENV PIPENV_VENV_IN_PROJECT", Output),
            ("POETRY_CACHE_DIR POETRY_VIRTUALENVS_PATH", Output),
        ],
        ..Group::NONE
    },
    Group {
        reason: "a test tool or linter loads code, reads options or writes files that it names",
        reach: Reach::NamesAnywhere,
        prefixes: "PYTEST_ TOX_ _TOX NOX RUFF_ MYPY_ PYLINT PYRIGHT_ FLAKE8_ BLACK_ ISORT_ COVERAGE_ \
            COV_CORE_ HYPOTHESIS_ ALEMBIC_ TY_ BANDIT_ PRE_COMMIT_",
        names: "PYTEST_PLUGINS PYTEST_DEBUG TOX_OVERRIDE TOX_USER_CONFIG_FILE TOX_CONFIG_FILE TOX_TESTENV_PASSENV \
            NOXFILE NOXPYTHON NOXEXTRAPYTHON NOXFORCEPYTHON MYPY_ALT_LIB_PATH MYPY_CONFIG_FILE_DIR \
            PYLINTRC PYLINTHOME COVERAGE_PROCESS_START COVERAGE_RCFILE COVERAGE_DEBUG_FILE \
            COVERAGE_PROCESS_CONFIG ALEMBIC_CONFIG RUFF_CONFIG RUFF_OUTPUT_FILE RUFF",
        free: "PYTEST_CURRENT_TEST PYTEST_DISABLE_PLUGIN_AUTOLOAD PYTEST_THEME PYTEST_THEME_MODE \
            PYTEST_XDIST_AUTO_NUM_WORKERS PYTEST_TIMEOUT RUFF_OUTPUT_FORMAT RUFF_NO_CACHE \
            MYPY_FORCE_COLOR MYPY_FORCE_TERMINAL_WIDTH MYPY_NUM_WORKERS BLACK_NUM_WORKERS NOXSESSION \
            TOX_PARALLEL_NO_SPINNER TOX_SKIP_ENV HYPOTHESIS_PROFILE COVERAGE_CORE \
            PRE_COMMIT_COLOR",
        accepts: &[
            ("PYTEST_ADDOPTS", Options(PYTEST)),
            (
                "PYTEST_DEBUG_TEMPROOT MYPY_CACHE_DIR RUFF_CACHE_DIR BLACK_CACHE_DIR COVERAGE_FILE",
                Output,
            ),
            ("MYPYPATH", SearchPath),
        ],
        ..Group::NONE
    },
    Group {
        reason: "a server loads code, reads options or writes files that it names",
        reach: Reach::NamesAnywhere,
        prefixes: "FLASK_ UVICORN_ GUNICORN_ WERKZEUG_ CELERY_CONFIG",
        names: "GUNICORN_CMD_ARGS FLASK_RUN_EXTRA_FILES CELERY_LOADER CELERY_CONFIG_MODULE",
        free: "FLASK_ENV FLASK_DEBUG FLASK_RUN_PORT FLASK_RUN_HOST FLASK_SECRET_KEY FLASK_CONFIG \
            UVICORN_PORT UVICORN_HOST UVICORN_LOG_LEVEL UVICORN_RELOAD UVICORN_WORKERS",
        accepts: &[
            ("FLASK_APP", ProjectPath),
            ("DJANGO_SETTINGS_MODULE DJANGO_CONFIGURATION", Name),
        ],
        ..Group::NONE
    },
];
