// Karpenter with its provider for kwok, from the Go module proxy: it makes nodes that kwok plays.
import { createHash } from 'node:crypto';
import { existsSync, mkdirSync, readdirSync, readFileSync, renameSync } from 'node:fs';
import { homedir } from 'node:os';
import { join } from 'node:path';
import type { Part } from './part.ts';
import { complaintOf, run } from './run.ts';

const MODULE = join(import.meta.dirname, 'karpenter');
/** Newer ones want a newer Go. */
export const KARPENTER_VERSION = '1.14.1';
const BUILD_WITHIN_MS = 45 * 60_000;

export interface Karpenter {
  readonly program: string;
  /** Definitions of its objects. */
  readonly crds: readonly string[];
}

const env = (): Record<string, string> => ({
  ...(process.env as Record<string, string>),
  ...{ CGO_ENABLED: '0', GOGC: '400', GOFLAGS: '-mod=readonly -buildvcs=false -modcacherw' },
});

/** The program, from the cache or built now; that takes six minutes of processor time. */
export async function karpenter(): Promise<Part<Karpenter>> {
  const version = await run('go', ['version'], { env: env() });
  if (version.code !== 0) return { missing: 'Go 1.26' };
  const made = createHash('sha256').update(version.out);
  for (const file of ['go.mod', 'go.sum']) made.update(readFileSync(join(MODULE, file)));
  const folder = join(homedir(), '.cache', 'muster');
  const program = join(folder, `karpenter-${made.digest('hex').slice(0, 12)}`);
  if (!existsSync(program)) {
    mkdirSync(folder, { recursive: true });
    const building = `${program}.${process.pid}`;
    const words = ['build', '-trimpath', '-ldflags', '-s -w', '-o', building, 'sigs.k8s.io/karpenter/kwok'];
    const built = await run('go', words, { cwd: MODULE, env: env(), withinMs: BUILD_WITHIN_MS });
    if (built.code !== 0)
      return { missing: `Karpenter ${KARPENTER_VERSION} from the Go module proxy (${complaintOf(built)})` };
    renameSync(building, program);
  }
  const got = await run('go', ['mod', 'download', '-json', `sigs.k8s.io/karpenter@v${KARPENTER_VERSION}`], {
    env: { ...env(), GOFLAGS: '-modcacherw' },
  });
  if (got.code !== 0) return { missing: `the definitions of Karpenter (${complaintOf(got)})` };
  const { Dir: module } = JSON.parse(got.out) as { Dir: string };
  const crds = ['kwok/charts/crds', 'kwok/apis/crds'].flatMap((at) =>
    readdirSync(join(module, at))
      .filter((name) => name.endsWith('.yaml'))
      .map((name) => readFileSync(join(module, at, name), 'utf8')),
  );
  return { program, crds };
}
