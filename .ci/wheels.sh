# The wheels of ROS 2, for the steps that run programs of ROS 2. Source this file, then call `install DISTRIBUTION`.
source=crates/rmw-gantry/tests/ros
target=${CARGO_TARGET_DIR:-target}
mkdir -p "$target/rmw"
export PYTHONDONTWRITEBYTECODE=1

# Finds a Python 3.11, because the wheels support no other version.
find_python() {
    local candidate
    for candidate in python3.11 python3; do
        if "$candidate" -c 'import sys; sys.exit(sys.version_info[:2] != (3, 11))' 2>/dev/null; then
            echo "$candidate"
            return
        fi
    done
    return 1
}

# `install DISTRIBUTION` installs the wheels of a distribution into a separate virtual environment in `$folder`, and
# sets `$python`.
install() {
    mkdir -p "$target/rmw/$1"
    folder=$(cd "$target/rmw/$1" && pwd)
    python=$folder/venv/bin/python
    if ! cmp -s "$source/$1.txt" "$folder/installed.txt"; then
        base=$(find_python) || { install_packages python3 python3-venv && base=$(find_python); } ||
            skip "${0##*/}: no Python 3.11 is here, and the wheels of ROS 2 are for no other version"
        rm -rf "$folder/venv"
        # Debian's Python needs the package python3-venv to create an environment with pip.
        "$base" -m venv "$folder/venv" >/dev/null 2>&1 ||
            { install_packages python3-venv && "$base" -m venv --clear "$folder/venv" >/dev/null; } ||
            skip "${0##*/}: $base cannot create a virtual environment here: apt-get install python3-venv"
        "$python" -m pip install --quiet --disable-pip-version-check --only-binary :all: --no-deps \
            -r "$source/$1.txt" >"$output" 2>&1 ||
            { printf 'SKIPPED: %s: pip could not install the wheels of %s here: %s\n' "${0##*/}" "$1" "$(tail -n 1 "$output")" | tee -a "${CI_SKIPPED:-/dev/null}"; return 1; }
        cp "$source/$1.txt" "$folder/installed.txt"
    fi
}
