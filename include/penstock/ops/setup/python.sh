# Prints the first Python this project can run on, or says what to install. Plain sh: it runs before there is a Python.
for candidate in "${PENSTOCK_PYTHON:-python3}" python3 python3.12 python3.11 python3.13; do
    if "$candidate" -c 'import sys; sys.exit(not (3, 11) <= sys.version_info[:2] <= (3, 13))' 2>/dev/null; then
        echo "$candidate"
        exit 0
    fi
done
found=$(python3 --version 2>/dev/null || echo "no python3")
echo "set-up: Python 3.11, 3.12 or 3.13 is needed and $found is here." \
    "Install one (Debian, Ubuntu: apt-get install python3.12 python3.12-venv), or name one by PENSTOCK_PYTHON=/path/to/python3." >&2
exit 3
