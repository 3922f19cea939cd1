// Control planes, kubectl, kubelet, kwok and helm, built from their Go modules once and kept outside the checkout.
import { createHash } from 'node:crypto';
import { existsSync, mkdirSync, readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { homedir } from 'node:os';
import { join } from 'node:path';
import { isMissing, type Part } from './part.ts';
import { complaintOf, run } from './run.ts';

export const KUBERNETES_VERSION = '1.36.3';
/** The first minor version whose Go module holds all sources: those before generate some of them while they are built. */
export const OLDEST_KUBERNETES_VERSION = '1.24.17';
const KWOK_VERSION = '0.8.0';
const HELM_VERSION = '3.21.4';
const BUILD_WITHIN_MS = 45 * 60_000;

type Program =
  | 'etcd'
  | 'helm'
  | 'kube-apiserver'
  | 'kube-controller-manager'
  | 'kube-proxy'
  | 'kube-scheduler'
  | 'kubectl'
  | 'kubelet'
  | 'kwok';

export interface KubernetesPrograms {
  /** The folder that holds them all. */
  readonly folder: string;
  program(name: Program): string;
}

/** Programs that one Go module makes. */
interface Release {
  readonly version: string;
  /** The folder of `go.mod` and `go.sum`, and the beginning of the name in the cache. */
  readonly module: string;
  /** The variable that may name a folder with the programs, ready. */
  readonly variable: string;
  readonly programs: readonly Program[];
  /** What `go build` builds. */
  readonly built: readonly string[];
  /** More values to link in. */
  readonly values?: Readonly<Record<string, string>>;
}

const NEWEST: Release = {
  version: KUBERNETES_VERSION,
  module: 'kubernetes',
  variable: 'KUBERNETES_PARTS',
  programs: [
    'etcd',
    'helm',
    'kube-apiserver',
    'kube-controller-manager',
    'kube-proxy',
    'kube-scheduler',
    'kubectl',
    'kubelet',
    'kwok',
  ],
  built: ['tool'],
  values: {
    'sigs.k8s.io/kwok/pkg/consts.Version': `v${KWOK_VERSION}`,
    'helm.sh/helm/v3/internal/version.version': `v${HELM_VERSION}`,
  },
};

const OLDEST: Release = {
  version: OLDEST_KUBERNETES_VERSION,
  module: 'kubernetes-oldest',
  variable: 'KUBERNETES_OLDEST_PARTS',
  programs: ['kube-apiserver', 'kubectl'],
  // Without the clouds that were part of it then.
  built: ['-tags', 'providerless', 'k8s.io/kubernetes/cmd/kube-apiserver', 'k8s.io/kubernetes/cmd/kubectl'],
  // What it answers to those who ask for its version.
  values: {
    'k8s.io/client-go/pkg/version.gitVersion': `v${OLDEST_KUBERNETES_VERSION}`,
    'k8s.io/client-go/pkg/version.gitMajor': '1',
    'k8s.io/client-go/pkg/version.gitMinor': '24',
  },
};

const VERSION = 'k8s.io/component-base/version';

function linkerFlags({ version, values = {} }: Release): string {
  const [major = '', minor = ''] = version.split('.');
  const all: Readonly<Record<string, string>> = {
    [`${VERSION}.gitVersion`]: `v${version}`,
    [`${VERSION}.gitMajor`]: major,
    [`${VERSION}.gitMinor`]: minor,
    [`${VERSION}.gitTreeState`]: 'clean',
    // Equal for all builds, so that equal sources make equal programs.
    [`${VERSION}.buildDate`]: '1970-01-01T00:00:00Z',
    ...values,
  };
  return ['-s', '-w', ...Object.entries(all).map(([name, value]) => `-X ${name}=${value}`)].join(' ');
}

const programsIn = (folder: string): KubernetesPrograms => ({ folder, program: (name) => join(folder, name) });

/** The programs of a release: from the folder that its variable names, from the cache, or built now. */
async function programsOf(release: Release): Promise<Part<KubernetesPrograms>> {
  const { version: kubernetes, module, variable, programs } = release;
  const isWhole = (folder: string): boolean => programs.every((name) => existsSync(join(folder, name)));
  const named = process.env[variable];
  if (named) return isWhole(named) ? programsIn(named) : { missing: `all of ${programs.join(', ')} in ${named}` };
  const env = { ...process.env, CGO_ENABLED: '0', GOGC: '400', GOFLAGS: '-mod=readonly -buildvcs=false -modcacherw' };
  const version = await run('go', ['version'], { env: env as Record<string, string> });
  if (version.code !== 0) return { missing: `Go 1.26, or ${variable} with the programs` };
  const [flags, source] = [linkerFlags(release), join(import.meta.dirname, module)];
  const made = createHash('sha256').update(flags).update(version.out);
  for (const file of ['go.mod', 'go.sum']) made.update(readFileSync(join(source, file)));
  const folder = join(homedir(), '.cache', 'muster', `${module}-${made.digest('hex').slice(0, 12)}`);
  if (isWhole(folder)) return programsIn(folder);
  const building = `${folder}.building`;
  rmSync(building, { recursive: true, force: true });
  mkdirSync(building, { recursive: true });
  const words = ['build', '-trimpath', '-o', `${building}/`, '-ldflags', flags, ...release.built];
  const built = await run('go', words, { cwd: source, env: env as Record<string, string>, withinMs: BUILD_WITHIN_MS });
  if (built.code !== 0)
    return { missing: `the programs of Kubernetes ${kubernetes} from the Go module proxy (${complaintOf(built)})` };
  // The main package of etcd is called server.
  if (programs.includes('etcd')) renameSync(join(building, 'server'), join(building, 'etcd'));
  writeFileSync(join(building, 'built-with'), version.out);
  rmSync(folder, { recursive: true, force: true });
  renameSync(building, folder);
  return programsIn(folder);
}

/** All programs of the newest release; to build them takes about 18 minutes of processor time. */
export const kubernetesPrograms = (): Promise<Part<KubernetesPrograms>> => programsOf(NEWEST);

/** API server and kubectl of the oldest release that can be had, and the rest of the newest. */
export async function oldestKubernetesPrograms(): Promise<Part<KubernetesPrograms>> {
  const [newest, oldest] = [await kubernetesPrograms(), await programsOf(OLDEST)];
  if (isMissing(newest)) return newest;
  if (isMissing(oldest)) return oldest;
  return { ...newest, program: (name) => (OLDEST.programs.includes(name) ? oldest : newest).program(name) };
}
