# shellcheck shell=bash
# The beginning of every step: strict mode, the repository's root as working directory, and the functions that steps share.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."

# Files of a step; its last output lies in `$output`.
scratch=$(mktemp -d)
output=$scratch/output
trap 'rm -rf "$scratch"' EXIT

fail() { printf 'FAILED: %s\n' "$*" >&2; exit 1; }
skip() { printf 'SKIPPED: %s\n' "$*" | tee -a "${CI_SKIPPED:-/dev/null}"; exit 0; }

# `component rustfmt`: a component of the toolchain, installed where it is missing.
component() { "cargo-${1#rust}" --version >/dev/null 2>&1 || rustup component add "$1"; }

# `install_packages NAME...`: Debian packages, installed as root. Steps that run beside each other take turns.
install_packages() {
    command -v apt-get >/dev/null && [ "$(id -u)" = 0 ] || return 1
    local install=(timeout 300 apt-get install -y -qq --no-install-recommends "$@")
    { flock 9 && { "${install[@]}" || { timeout 120 apt-get update -qq && "${install[@]}"; }; }; } \
        9>"${TMPDIR:-/tmp}/gantry-install-packages.lock" >/dev/null 2>&1
}

# `nightly STEP COMPONENT...`: the nightly toolchain and its components are installed, or the step is skipped.
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

# The first command of the documentation that begins with $1 (an extended regular expression): a documented command is the one
# that is tried.
documented_command() {
    local file
    for file in README.md CONTRIBUTING.md docs/*.md docs/guide/*.md; do
        ! grep -sm1 -E -- "^$1" "$file" || return 0
    done
    fail "no line of README.md, CONTRIBUTING.md or docs begins with: $1"
}

# `expect REGEX`: a line of the last output matches.
expect() { grep -qE -- "$1" "$output" || { cat "$output"; fail "this is not in the output: $1"; }; }

# `at_most NAME LIMIT`: the line `ratio NAME VALUE` of the last output has a value of at most LIMIT.
at_most() {
    awk -v name="$1" -v most="$2" '$1 == "ratio" && $2 == name { found = 1; if ($3 > most) exit 1 } END { if (!found) exit 1 }' "$output" ||
        fail "ratio $1 is missing or more than $2"
}

# The release build of everything that steps run: the instrument, the examples, the command `gantry`. It is one build, because each
# selection of packages would compile their dependencies again, with other features.
build_release() {
    cargo build --locked --release --lib --bins --examples -p perf-test -p perf-worker-c -p perf-micro -p gantry-agent \
        -p gantry -p gantry-cli -p custom_messages
    release=${CARGO_TARGET_DIR:-target}/release
    # shellcheck disable=SC2034
    examples=$release/examples gantry=$release/gantry
}
