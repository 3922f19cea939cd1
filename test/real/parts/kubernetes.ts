// A control plane, kubectl, kubelet, kwok and helm, built from their Go modules once and kept outside the checkout.
import { createHash } from 'node:crypto';
import { existsSync, mkdirSync, readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { homedir } from 'node:os';
import { join } from 'node:path';
import type { Part } from './part.ts';
import { complaintOf, run } from './run.ts';

const MODULE = join(import.meta.dirname, 'kubernetes');
export const KUBERNETES_VERSION = '1.36.3';
const KWOK_VERSION = '0.8.0';
const HELM_VERSION = '3.21.4';
const BUILD_WITHIN_MS = 45 * 60_000;

const PROGRAMS = [
  'etcd',
  'helm',
  'kube-apiserver',
  'kube-controller-manager',
  'kube-proxy',
  'kube-scheduler',
  'kubectl',
  'kubelet',
  'kwok',
] as const;

export interface KubernetesPrograms {
  /** The folder that holds them all. */
  readonly folder: string;
  program(name: (typeof PROGRAMS)[number]): string;
}

const VERSION = 'k8s.io/component-base/version';
const VALUES: Readonly<Record<string, string>> = {
  [`${VERSION}.gitVersion`]: `v${KUBERNETES_VERSION}`,
  [`${VERSION}.gitMajor`]: '1',
  [`${VERSION}.gitMinor`]: '36',
  [`${VERSION}.gitTreeState`]: 'clean',
  // Equal for all builds, so that equal sources make equal programs.
  [`${VERSION}.buildDate`]: '1970-01-01T00:00:00Z',
  'sigs.k8s.io/kwok/pkg/consts.Version': `v${KWOK_VERSION}`,
  'helm.sh/helm/v3/internal/version.version': `v${HELM_VERSION}`,
};
const LINKER_FLAGS = ['-s', '-w', ...Object.entries(VALUES).map(([name, value]) => `-X ${name}=${value}`)].join(' ');

const isWhole = (folder: string): boolean => PROGRAMS.every((name) => existsSync(join(folder, name)));

const programsIn = (folder: string): KubernetesPrograms => ({ folder, program: (name) => join(folder, name) });

/** The programs: from the folder that KUBERNETES_PARTS names, from the cache, or built now (about 18 minutes of processor time). */
export async function kubernetesPrograms(): Promise<Part<KubernetesPrograms>> {
  const named = process.env.KUBERNETES_PARTS;
  if (named) return isWhole(named) ? programsIn(named) : { missing: `all of ${PROGRAMS.join(', ')} in ${named}` };
  const env = { ...process.env, CGO_ENABLED: '0', GOGC: '400', GOFLAGS: '-mod=readonly -buildvcs=false -modcacherw' };
  const version = await run('go', ['version'], { env: env as Record<string, string> });
  if (version.code !== 0) return { missing: 'Go 1.26, or KUBERNETES_PARTS with the programs' };
  const made = createHash('sha256').update(LINKER_FLAGS).update(version.out);
  for (const file of ['go.mod', 'go.sum']) made.update(readFileSync(join(MODULE, file)));
  const folder = join(homedir(), '.cache', 'muster', `kubernetes-${made.digest('hex').slice(0, 12)}`);
  if (isWhole(folder)) return programsIn(folder);
  const building = `${folder}.building`;
  rmSync(building, { recursive: true, force: true });
  mkdirSync(building, { recursive: true });
  const words = ['build', '-trimpath', '-o', `${building}/`, '-ldflags', LINKER_FLAGS, 'tool'];
  const built = await run('go', words, { cwd: MODULE, env: env as Record<string, string>, withinMs: BUILD_WITHIN_MS });
  if (built.code !== 0) return { missing: `the Kubernetes programs from the Go module proxy (${complaintOf(built)})` };
  // The main package of etcd is called server.
  renameSync(join(building, 'server'), join(building, 'etcd'));
  writeFileSync(join(building, 'built-with'), version.out);
  rmSync(folder, { recursive: true, force: true });
  renameSync(building, folder);
  return programsIn(folder);
}
