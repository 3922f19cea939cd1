#!/bin/sh
# Installs Muster from the archive beside this file: sh install.sh [PREFIX]. PREFIX is /usr/local unless you name another:
# the program goes to PREFIX/lib/muster, the command is PREFIX/bin/muster. Running it again replaces the program.
set -eu

fail() {
  echo "install.sh: $1" >&2
  exit 1
}

here=$(cd "$(dirname "$0")" && pwd)
prefix=${1:-/usr/local}
[ "$(uname -s)" = Linux ] || fail "The archives are for Linux, this is $(uname -s). Install the npm package instead."
case $(uname -m) in
  x86_64 | amd64) arch=x64 ;;
  aarch64 | arm64) arch=arm64 ;;
  *) fail "There is no archive for $(uname -m). Install the npm package by a Node of your own." ;;
esac
for loader in /lib/ld-musl-*; do
  [ -e "$loader" ] && [ ! -e /lib64/ld-linux-x86-64.so.2 ] && [ ! -e /lib/ld-linux-aarch64.so.1 ] &&
    fail "Alpine and other systems with musl are not supported: the Node in the archive needs glibc."
done
file=muster-linux-$arch.tar.gz
[ -f "$here/$file" ] || fail "$here/$file is not there."
(cd "$here" && grep "  $file\$" SHA256SUMS | sha256sum -c - >/dev/null 2>&1) || fail "$file does not have the checksum that SHA256SUMS names. Fetch both again."

mkdir -p "$prefix/lib" "$prefix/bin" || fail "$prefix cannot be written. Use sudo, or name another folder."
new=$(mktemp -d "$prefix/lib/muster.XXXXXX")
trap 'rm -rf "$new"' EXIT
tar -xzf "$here/$file" -C "$new"
"$new/muster/bin/muster" --version >/dev/null || fail "The program in $file does not start on this machine."
rm -rf "$prefix/lib/muster"
mv "$new/muster" "$prefix/lib/muster"
ln -sfn ../lib/muster/bin/muster "$prefix/bin/muster"
echo "Installed $prefix/bin/muster, version $("$prefix/bin/muster" --version)."
