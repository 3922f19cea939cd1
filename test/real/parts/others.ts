// The code by which Argo CD, Flux and Prometheus judge what Muster ships, in a small program beside this file, and the
// definitions of the Prometheus operator: all from the Go module proxy.
import { createHash } from 'node:crypto';
import { existsSync, mkdirSync, readFileSync, renameSync } from 'node:fs';
import { homedir } from 'node:os';
import { join } from 'node:path';
import { Fault } from '#core/fault.ts';
import { runWithInput } from './input.ts';
import type { Part } from './part.ts';
import { complaintOf, run } from './run.ts';

const MODULE = join(import.meta.dirname, 'others');
const OPERATOR = 'github.com/prometheus-operator/prometheus-operator@v0.85.0';
const BUILD_WITHIN_MS = 10 * 60_000;

export type Question =
  | { readonly ask: 'argo'; readonly text: string; readonly object: object }
  | { readonly ask: 'flux'; readonly object: object }
  | { readonly ask: 'rules' | 'query'; readonly text: string };

export interface Judgement {
  readonly status?: string;
  readonly message?: string;
  readonly error?: string;
}

export interface Others {
  judge(...questions: readonly Question[]): Promise<Judgement[]>;
}

const goEnv = (): Record<string, string> => ({
  ...(process.env as Record<string, string>),
  CGO_ENABLED: '0',
  GOFLAGS: '-mod=readonly -buildvcs=false -modcacherw',
});

/** The program, from the cache or built now; that takes a minute of processor time. */
export async function others(): Promise<Part<Others>> {
  const env = goEnv();
  const version = await run('go', ['version'], { env });
  if (version.code !== 0) return { missing: 'Go 1.26' };
  const made = createHash('sha256').update(version.out);
  for (const file of ['go.mod', 'go.sum', 'main.go']) made.update(readFileSync(join(MODULE, file)));
  const folder = join(homedir(), '.cache', 'muster');
  const program = join(folder, `others-${made.digest('hex').slice(0, 12)}`);
  if (!existsSync(program)) {
    mkdirSync(folder, { recursive: true });
    const building = `${program}.${process.pid}`;
    const words = ['build', '-trimpath', '-o', building, '.'];
    const built = await run('go', words, { cwd: MODULE, env, withinMs: BUILD_WITHIN_MS });
    // A mistake in the program is no missing part.
    if (/main\.go:\d+/.test(built.err)) throw new Fault('internal', built.err);
    if (built.code !== 0) return { missing: `its modules from the Go module proxy (${complaintOf(built)})` };
    renameSync(building, program);
  }
  return {
    async judge(...questions) {
      const input = questions.map((question) => `${JSON.stringify(question)}\n`).join('');
      const said = await runWithInput(program, [], input, env);
      return said
        .trim()
        .split('\n')
        .map((line) => JSON.parse(line) as Judgement);
    },
  };
}

/** The definitions of PodMonitors and PrometheusRules. */
export async function operatorCrds(): Promise<Part<readonly string[]>> {
  const got = await run('go', ['mod', 'download', '-json', OPERATOR], { env: { ...goEnv(), GOFLAGS: '-modcacherw' } });
  if (got.code !== 0) return { missing: `${OPERATOR} from the Go module proxy (${complaintOf(got)})` };
  const { Dir: folder } = JSON.parse(got.out) as { Dir: string };
  return ['podmonitors', 'prometheusrules'].map((name) =>
    readFileSync(join(folder, `example/prometheus-operator-crd/monitoring.coreos.com_${name}.yaml`), 'utf8'),
  );
}
