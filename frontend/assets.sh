#!/bin/sh
# Copies htmx out of its npm package into static/vendor, once. Without npm the pages are plain forms.
set -eu
cd "$(dirname "$0")"
[ -f static/vendor/htmx.min.js ] && exit 0
command -v npm >/dev/null 2>&1 || { echo "npm not found: the pages work as plain forms"; exit 0; }
npm ci --silent --no-audit --no-fund --ignore-scripts || { echo "npm ci failed: the pages work as plain forms"; exit 0; }
mkdir -p static/vendor
cp node_modules/htmx.org/dist/htmx.min.js node_modules/htmx.org/dist/ext/hx-sse.min.js static/vendor/
