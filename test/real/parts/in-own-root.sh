# sh in-own-root.sh FOLDER COMMAND…: runs a program on a root of its own; its changes end with it, FOLDER apart.
# To be started by `unshare --mount --uts --pid --fork`.
set -e
folder=$1
shift
own=$folder/own-root
mkdir -p "$own"
mount -t tmpfs own "$own"
mkdir "$own/changes" "$own/work" "$own/root"
mount -t overlay own -o "lowerdir=/,upperdir=$own/changes,workdir=$own/work" "$own/root"
mount --rbind /dev "$own/root/dev"
mount -t proc proc "$own/root/proc"
mount -t tmpfs run "$own/root/run"
mount --bind "$folder" "$own/root$folder"
exec chroot "$own/root" "$@"
