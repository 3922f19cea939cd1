#!/bin/sh
# Lets this package find Muster and the tools of its clone: sh link.sh /path/to/muster
set -eu
muster=$(cd "$1" && pwd)
cd "$(dirname "$0")"
mkdir -p node_modules
ln -sfn "$muster" node_modules/muster
for name in .bin @types typescript vitest zod; do
  ln -sfn "muster/node_modules/$name" "node_modules/$name"
done
