// A real node beside the control plane, all of it in a network of its own: kubelet, containerd, runc, and pods that run.
import { existsSync, mkdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { until } from '#core/testing/until.ts';
import type { World } from '../../system/harness/world.ts';
import { type ControlPlane, openControlPlane } from './control-plane.ts';
import { startDaemon } from './daemon.ts';
import type { KubernetesPrograms } from './kubernetes.ts';
import { PAUSE_IMAGE } from './node-image.ts';
import { type NodeParts, packNodeImages } from './node-programs.ts';
import { run, runWell } from './run.ts';

/** The machine's side of the network that nodes and pods share. */
export const GATEWAY = '10.244.0.1';
const API_ADDRESS = '10.96.0.1';
const NODE = { name: 'n1', address: '10.244.0.2', first: '10.244.1.1', last: '10.244.1.250' };

export interface RealNode {
  readonly cluster: ControlPlane;
  /** Words before a command that is to run in the network of the test. */
  readonly through: readonly string[];
  readonly name: string;
  /** Takes its network cable out, or puts it back: no connection is closed. */
  setCable(state: 'in' | 'out'): Promise<void>;
  /** All of it stops at once: kubelet, containerd and every container. */
  kill(): Promise<void>;
  /** Removes what the kernel keeps of it; after its processes have ended. */
  removeTraces(): Promise<void>;
}

const NETWORK = [
  'ip link set lo up',
  'ip link add kt0 type bridge',
  `ip addr add ${GATEWAY}/16 dev kt0`,
  `ip addr add ${API_ADDRESS}/32 dev kt0`,
  'ip link set kt0 up',
].join(' && ');

function containerdFile({ folder }: NodeParts, place: string): string {
  const others = ['internal.v1.opt', ...['btrfs', 'zfs', 'aufs', 'devmapper'].map((name) => `snapshotter.v1.${name}`)];
  return `version = 2
disabled_plugins = ${JSON.stringify(others.map((name) => `io.containerd.${name}`))}
[plugins."io.containerd.grpc.v1.cri"]
  sandbox_image = "${PAUSE_IMAGE}"
  restrict_oom_score_adj = true
  [plugins."io.containerd.grpc.v1.cri".cni]
    bin_dir = "${join(folder, 'usr/lib/cni')}"
    conf_dir = "${join(place, 'cni')}"
`;
}

const NETWORK_PLUGIN = {
  cniVersion: '1.0.0',
  name: 'kt',
  plugins: [
    {
      type: 'bridge',
      bridge: 'cni0',
      isGateway: false,
      ipMasq: false,
      hairpinMode: true,
      ipam: {
        type: 'host-local',
        ranges: [[{ subnet: '10.244.0.0/16', rangeStart: NODE.first, rangeEnd: NODE.last, gateway: NODE.address }]],
        routes: [{ dst: '0.0.0.0/0' }],
      },
    },
  ],
};

const kubeletFile = (place: string, cgroup: string): object => ({
  apiVersion: 'kubelet.config.k8s.io/v1beta1',
  kind: 'KubeletConfiguration',
  address: NODE.address,
  port: 10_250,
  readOnlyPort: 0,
  authentication: { anonymous: { enabled: true }, webhook: { enabled: false } },
  authorization: { mode: 'AlwaysAllow' },
  cgroupDriver: 'cgroupfs',
  cgroupRoot: cgroup,
  failCgroupV1: false,
  failSwapOn: false,
  makeIPTablesUtilChains: false,
  containerRuntimeEndpoint: 'unix:///run/containerd/containerd.sock',
  clusterDNS: [GATEWAY],
  resolvConf: join(place, 'resolv.conf'),
  volumePluginDir: '/var/lib/kubelet/volplug',
  imagePullCredentialsVerificationPolicy: 'NeverVerify',
  serializeImagePulls: false,
  syncFrequency: '2s',
  crashLoopBackOff: { maxContainerRestartPeriod: '2s' },
  imageGCHighThresholdPercent: 100,
  evictionHard: Object.fromEntries(
    ['memory.available', 'nodefs.available', 'nodefs.inodesFree', 'imagefs.available', 'imagefs.inodesFree'].map(
      (name) => [name, '0%'],
    ),
  ),
});

/** Starts a control plane and one node, and waits until it is ready; with the server's image where that is wanted. */
export async function openRealNode(
  world: World,
  programs: KubernetesPrograms,
  parts: NodeParts,
  { hasServer = false }: { readonly hasServer?: boolean } = {},
): Promise<RealNode> {
  const network = startDaemon(world, 'network', ['unshare', '--net', 'sleep', 'infinity']);
  const through = ['nsenter', '-t', String(network.pid), '-n'];
  const inNetwork = (script: string): Promise<string> =>
    runWell('nsenter', [...through.slice(1), 'sh', '-c', script], { env: process.env as Record<string, string> });
  const own = readFileSync('/proc/self/net/dev', 'utf8');
  await until('a network of its own', () => readFileSync(`/proc/${network.pid}/net/dev`, 'utf8') !== own);
  await inNetwork(NETWORK);
  const user = `system:node:${NODE.name}`;
  const cluster = await openControlPlane(world, programs, {
    parts: ['scheduler', 'controllers'],
    host: API_ADDRESS,
    port: 443,
    through,
    users: { [user]: 'system:nodes' },
    apiServerFlags: [
      // The second as on OpenShift: who makes an object that holds up the end of its owner needs the right to.
      ...['--enable-admission-plugins', 'NodeRestriction,OwnerReferencesPermissionEnforcement'],
      ...['--kubelet-preferred-address-types', 'InternalIP'],
    ],
  });

  const place = world.path('node');
  const cgroup = `/${world.folder.split('/').at(-1)}`;
  mkdirSync(join(place, 'cni'), { recursive: true });
  world.write('node/containerd.toml', containerdFile(parts, place));
  world.write('node/kubelet.json', JSON.stringify(kubeletFile(place, cgroup)));
  world.write('node/cni/10-net.conflist', JSON.stringify(NETWORK_PLUGIN));
  world.write('node/resolv.conf', 'nameserver 127.0.0.1\n');
  await packNodeImages(join(place, 'images'), parts, hasServer);

  const path = [join(parts.folder, 'usr/bin'), join(parts.folder, 'usr/sbin'), programs.folder, process.env.PATH];
  const apart = ['unshare', '--mount', '--pid', '--net', '--uts', '--fork', '--kill-child', '--mount-proc'];
  const init = ['bash', join(import.meta.dirname, 'node/init.sh'), place, NODE.name, NODE.address, cgroup];
  const node = startDaemon(world, 'node', [...apart, ...init, cluster.kubeconfigOf(user)], {
    env: { PATH: path.join(':') },
  });
  const children = `/proc/${node.pid}/task/${node.pid}/children`;
  const first = await until('the node has a process', () => readFileSync(children, 'utf8').trim());
  await until('the node has a network', () => readFileSync(`/proc/${first}/net/dev`, 'utf8') !== own);
  await inNetwork(`ip link add kt-n1 type veth peer name eth0 netns ${first} && ip link set kt-n1 master kt0 up`);
  await until('the node is ready', async () => {
    const { out } = await cluster.tryKubectl('get', 'node', NODE.name, '--no-headers');
    return / Ready /.test(out);
  });
  return {
    cluster,
    through,
    name: NODE.name,
    setCable: async (state) => void (await inNetwork(`ip link set kt-n1 ${state === 'in' ? 'up' : 'down'}`)),
    kill: () => node.stop('SIGKILL'),
    async removeTraces() {
      const env = process.env as Record<string, string>;
      const script = `find /sys/fs/cgroup/*${cgroup} -depth -type d -exec rmdir {} + 2>/dev/null`;
      await until('the cgroups go', async () => {
        await run('sh', ['-c', script], { env });
        return !existsSync(`/sys/fs/cgroup/memory${cgroup}`);
      });
    },
  };
}
