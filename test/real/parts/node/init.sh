# The first process of a node: its own mounts, pids, network and host name. Nothing that it does reaches the machine.
# FOLDER NAME IP CGROUP KUBECONFIG
set -u
FOLDER=$1 NAME=$2 IP=$3 CGROUP=$4 KUBECONFIG=$5
hostname "$NAME"
mount --make-rshared /
mkdir -p "$FOLDER"/lib/kubelet "$FOLDER"/lib/containerd "$FOLDER"/log
mount --bind "$FOLDER"/lib /var/lib
mount --bind "$FOLDER"/log /var/log
mount -t tmpfs tmpfs /run
# Pulls fail at once, not after the time of an unreachable name server.
mount --bind "$FOLDER"/resolv.conf /etc/resolv.conf
# The kubelet would write these for the whole machine.
setting() {
  echo "$2" >"$FOLDER/setting-$3"
  mount --bind "$FOLDER/setting-$3" "/proc/sys/$1"
}
setting vm/overcommit_memory 1 overcommit
setting kernel/panic 10 panic
setting kernel/panic_on_oops 1 oops
until ip link show eth0 >/dev/null 2>&1; do sleep 0.05; done
ip link set lo up
ip link add cni0 type bridge
ip link set eth0 master cni0
ip link set eth0 up
ip addr add "$IP"/16 dev cni0
ip link set cni0 up
ip route add default via 10.244.0.1
echo 1 >/proc/sys/net/ipv4/ip_forward
for controller in cpu cpuacct cpuset memory pids devices freezer blkio systemd; do
  mkdir -p "/sys/fs/cgroup/$controller$CGROUP"
done
for file in cpus mems; do
  cat "/sys/fs/cgroup/cpuset/cpuset.$file" >"/sys/fs/cgroup/cpuset$CGROUP/cpuset.$file"
done
containerd --config "$FOLDER"/containerd.toml >"$FOLDER"/containerd.log 2>&1 &
until ctr -n k8s.io version >/dev/null 2>&1; do sleep 0.1; done
for image in "$FOLDER"/images/*.tar; do ctr -n k8s.io images import "$image"; done
kubelet --config "$FOLDER"/kubelet.json --kubeconfig "$KUBECONFIG" --hostname-override "$NAME" --node-ip "$IP" --v 2 \
  >"$FOLDER"/kubelet.log 2>&1 &
wait
