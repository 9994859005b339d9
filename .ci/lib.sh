# shellcheck shell=bash
# Each step sources this file: strict mode, the repository's root as working directory, and shared functions.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."

# A temporary folder of the step. The file `$output` in it has the output of the last command.
scratch=$(mktemp -d)
output=$scratch/output
trap 'rm -rf "$scratch"' EXIT

fail() { printf 'FAILED: %s\n' "$*" >&2; exit 1; }
skip() { printf 'SKIPPED: %s\n' "$*" | tee -a "${CI_SKIPPED:-/dev/null}"; exit 0; }

# `component rustfmt` installs a component of the toolchain if it is missing.
component() { "cargo-${1#rust}" --version >/dev/null 2>&1 || rustup component add "$1"; }

# `install_packages NAME...` installs Debian packages, if the user is root, or on a CI runner by sudo. Concurrent steps
# take turns by a lock.
install_packages() {
    command -v apt-get >/dev/null || return 1
    local sudo=()
    [ "$(id -u)" = 0 ] || { [ -n "${CI:-}" ] && sudo -n true 2>/dev/null && sudo=(sudo -n); } || return 1
    local install=("${sudo[@]}" timeout 300 apt-get install -y -qq --no-install-recommends "$@")
    { flock 9 && { "${install[@]}" || { "${sudo[@]}" timeout 120 apt-get update -qq && "${install[@]}"; }; }; } \
        9>"${TMPDIR:-/tmp}/gantry-install-packages.lock" >/dev/null 2>&1
}

# `nightly STEP COMPONENT...` installs the nightly toolchain and these components, or skips the step.
nightly() {
    local component
    command -v rustup >/dev/null || skip "$1: no rustup is here to install a nightly toolchain"
    rustup toolchain list | grep '^nightly' >/dev/null || timeout 600 rustup toolchain install --profile minimal nightly >"$output" 2>&1 ||
        skip "$1: rustup cannot install a nightly toolchain here: $(tail -n 1 "$output")"
    for component in "${@:2}"; do
        rustup component list --toolchain nightly --installed | grep "^$component" >/dev/null ||
            timeout 600 rustup component add --toolchain nightly "$component" >"$output" 2>&1 ||
            skip "$1: rustup has no $component for the nightly toolchain here: $(tail -n 1 "$output")"
    done
}

# Prints the first command of the documentation that begins with $1 (an extended regular expression). So a step runs
# exactly the documented command.
documented_command() {
    local file
    for file in README.md CONTRIBUTING.md docs/*.md docs/guide/*.md; do
        ! grep -sm1 -E -- "^$1" "$file" || return 0
    done
    fail "no line of README.md, CONTRIBUTING.md or docs begins with: $1"
}

# `expect REGEX` fails if no line of the last output matches.
expect() { grep -qE -- "$1" "$output" || { cat "$output"; fail "this is not in the output: $1"; }; }

# `at_most NAME LIMIT` fails if the line `ratio NAME VALUE` of the last output is missing, or VALUE is more than LIMIT.
at_most() {
    awk -v name="$1" -v most="$2" '$1 == "ratio" && $2 == name { found = 1; if ($3 > most) exit 1 } END { if (!found) exit 1 }' "$output" ||
        fail "ratio $1 is missing or more than $2"
}

# Builds everything that steps run: the instrument, the examples, the command `gantry`. A single build is faster: each
# other selection of packages would compile the dependencies again, with other features.
build_release() {
    cargo build --locked --release --lib --bins --examples -p perf-test -p perf-worker-c -p perf-micro -p gantry-agent \
        -p gantry -p gantry-cli -p custom_messages
    release=${CARGO_TARGET_DIR:-target}/release
    # shellcheck disable=SC2034
    examples=$release/examples gantry=$release/gantry
}

# `npm_packages PACKAGE_JSON FOLDER` installs the packages of a package.json in a folder. It needs npm and Node.js 16.
npm_packages() {
    command -v npm >/dev/null && node -e 'process.exit(parseInt(process.versions.node) < 16 ? 1 : 0)' || return 1
    cmp -s "$1" "$2/installed.json" && return
    mkdir -p "$2"
    cp "$1" "$2/package.json"
    npm install --prefix "$2" --ignore-scripts --no-audit --no-fund --silent >"$output" 2>&1 || return 1
    cp "$1" "$2/installed.json"
}
