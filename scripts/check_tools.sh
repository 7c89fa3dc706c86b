#!/bin/sh
# Says what is missing to build memspan from nothing, and how to get it. Silent and 0 when all is there.
# Usage: scripts/check_tools.sh PYTHON
python=$1
missing=0

lacks() { # lacks WHAT HOW
    printf '  missing: %s\n  get it:  %s\n' "$1" "$2" >&2
    missing=1
}

# at_least HAVE WANT: whether version HAVE is WANT or newer
at_least() { [ "$(printf '%s\n%s\n' "$2" "$1" | sort -V | head -n 1)" = "$2" ]; }

if ! command -v "$python" >/dev/null 2>&1; then
    lacks "$python (Python 3.11 or newer)" "apt-get install python3 python3-venv, or: make PYTHON=/path/to/python3.11 ..."
elif ! "$python" -c 'import sys; sys.exit(sys.version_info < (3, 11))' 2>/dev/null; then
    lacks "Python 3.11 or newer ($python is $("$python" -V 2>&1 | cut -d' ' -f2))" "make PYTHON=/path/to/python3.11 ..."
elif ! "$python" -c 'import venv, ensurepip' 2>/dev/null; then
    lacks "the modules venv and ensurepip of $python" "apt-get install python3-venv"
fi

if ! command -v cargo >/dev/null 2>&1; then
    lacks "cargo (Rust 1.89 or newer)" "https://rustup.rs, or on Debian 13: apt-get install cargo"
else
    rust=$(cargo --version 2>/dev/null | cut -d' ' -f2)
    at_least "${rust:-0}" 1.89 || lacks "Rust 1.89 or newer (cargo is ${rust:-broken})" "https://rustup.rs, then: rustup update stable"
fi

# LMDB is C: without a compiler its crate fails deep in a build log.
command -v "${CC:-cc}" >/dev/null 2>&1 || lacks "a C compiler (${CC:-cc})" "apt-get install build-essential"

exit $missing
