#!/bin/sh
# Fetch the scripts of other projects that the site ships: KaTeX and the worker for files.
# Only fonts in WOFF2 are kept: every browser of today reads them, and the style names no others.
set -eu
KATEX=0.19.1
WORKER=1.0.4
assets="$(cd "$(dirname "$0")/../.." && pwd)/docs/assets"
cd "$(mktemp -d)"

npm pack --silent "katex@$KATEX" | xargs tar -xzf
mkdir -p "$assets/katex/fonts"
cp package/LICENSE package/dist/katex.min.js "$assets/katex"
cp package/dist/fonts/*.woff2 "$assets/katex/fonts"
sed -E 's/,url\([^)]*\.(woff|ttf)\) format\("[a-z]+"\)//g' package/dist/katex.min.css \
    > "$assets/katex/katex.min.css"

rm -r package
npm pack --silent "iframe-worker@$WORKER" | xargs tar -xzf
mkdir -p "$assets/iframe-worker"
cp package/LICENSE "$assets/iframe-worker"
cp package/shim/index.js "$assets/iframe-worker/shim.js"
