# sh in-root.sh ROOT COMMAND…: runs a program on that root, with its own processes; what it changes there stays.
# To be started by `unshare --mount --pid --fork`, and with `--net` for a network of its own.
set -e
ip link set lo up
root=$1
shift
mount --rbind /dev "$root/dev"
mount -t proc proc "$root/proc"
exec chroot "$root" "$@"
