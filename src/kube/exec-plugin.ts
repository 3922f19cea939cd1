// Credentials from a program, as client.authentication.k8s.io says (v1 and v1beta1).
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { z } from 'zod';
import { plainMessage } from '#core/answer.ts';
import { type Clock, MINUTE_MS, SECOND_MS } from '#core/clock.ts';
import { Fault } from '#core/fault.ts';
import { quoted } from '#core/shell-text.ts';
import { type ExecSpec, type InFile, type KubeconfigCluster, pathIn } from './kubeconfig-file.ts';

export interface ExecCredential {
  readonly token?: string | undefined;
  readonly cert?: string | undefined;
  readonly key?: string | undefined;
}

export interface ExecPlugin {
  /** From memory while it is good; several who ask share one run. */
  get(signal: AbortSignal): Promise<ExecCredential>;
  refused(): void;
  /** Ends what still runs. */
  close(): void;
}

export interface ExecPluginOptions {
  readonly clock: Clock;
  readonly spec: InFile<ExecSpec>;
  /** For plugins that want to know what they log in to. */
  readonly cluster: KubeconfigCluster;
  /** The cluster's certificate authority as PEM, also where the kubeconfig names a file. */
  readonly ca?: string | undefined;
}

const API_VERSIONS = ['client.authentication.k8s.io/v1', 'client.authentication.k8s.io/v1beta1'];
const CLUSTER_EXTENSION = 'client.authentication.k8s.io/exec';
const WITHIN_MS = MINUTE_MS;
const RENEW_BEFORE_MS = MINUTE_MS;
const AGAIN_AFTER_MS = 5 * SECOND_MS;
const MOST_BYTES = 2 ** 20;
const NOT_FOUND = 127;
const NOT_EXECUTABLE = 126;

const Answer = z.looseObject({
  apiVersion: z.string(),
  kind: z.literal('ExecCredential'),
  status: z.looseObject({
    token: z.string().optional(),
    clientCertificateData: z.string().optional(),
    clientKeyData: z.string().optional(),
    expirationTimestamp: z.string().nullish(),
  }),
});

/** What KUBERNETES_EXEC_INFO tells the program. */
function execInfo({ spec: { value: spec }, cluster, ca }: ExecPluginOptions): string {
  const config = cluster.extensions?.find(({ name }) => name === CLUSTER_EXTENSION)?.extension;
  const about = spec.provideClusterInfo && {
    cluster: {
      server: cluster.server,
      'tls-server-name': cluster['tls-server-name'],
      'insecure-skip-tls-verify': cluster['insecure-skip-tls-verify'],
      'certificate-authority-data': ca && Buffer.from(ca).toString('base64'),
      config,
    },
  };
  return JSON.stringify({
    apiVersion: spec.apiVersion,
    kind: 'ExecCredential',
    spec: { interactive: false, ...about },
  });
}

/** A path is relative to the file that names it; a bare name is looked for in PATH. */
function commandOf({ value: { command }, file }: InFile<ExecSpec>): string {
  return command.includes('/') ? pathIn(file, command) : command;
}

// By a shell, which has our environment and adds to it; from its stdin, so that no process list shows what it adds.
function scriptOf(options: ExecPluginOptions): string {
  const { value } = options.spec;
  const env = [...(value.env ?? []), { name: 'KUBERNETES_EXEC_INFO', value: execInfo(options) }];
  const exports = env.map(({ name, value: set }) => `export ${name}=${quoted(set)}`);
  const words = [commandOf(options.spec), ...(value.args ?? [])].map(quoted);
  return `${exports.join('\n')}\nexec ${words.join(' ')} </dev/null\n`;
}

const closed = (): Fault => new Fault('unavailable', 'The cluster is closed; no program is asked for its credential.');

interface Ended {
  readonly code: number | null;
  readonly output: string;
  readonly errors: string;
}

async function runScript(script: string, clock: Clock, signal: AbortSignal): Promise<Ended> {
  if (signal.aborted) throw closed();
  const child = spawn('sh', ['-s'], { detached: true });
  const kill = (): void => {
    try {
      if (child.pid !== undefined) process.kill(-child.pid, 'SIGKILL');
    } catch {
      // It has ended by itself.
    }
  };
  const cancel = clock.alarm(WITHIN_MS, kill);
  signal.addEventListener('abort', kill, { once: true });
  let output = '';
  let errors = '';
  child.stdout.setEncoding('utf8').on('data', (piece: string) => {
    output += piece;
    if (output.length > MOST_BYTES) kill();
  });
  child.stderr.setEncoding('utf8').on('data', (piece: string) => {
    errors = (errors + piece).slice(-4_096);
  });
  child.stdin.on('error', () => {});
  child.stdin.end(script);
  try {
    const [code] = (await once(child, 'close')) as [number | null];
    return { code, output, errors };
  } finally {
    cancel();
    signal.removeEventListener('abort', kill);
  }
}

function failure({ spec: { value: spec } }: ExecPluginOptions, { code, errors }: Ended): Fault {
  if (code === NOT_FOUND || code === NOT_EXECUTABLE) {
    const hint = spec.installHint?.trim();
    const why = code === NOT_FOUND ? 'is not installed' : 'cannot be executed';
    return new Fault('denied', `The kubeconfig asks ${spec.command} for credentials, which ${why} here.`, {
      remedy: hint ? plainMessage(hint) : `Install ${spec.command} where the server runs, and see that PATH has it.`,
    });
  }
  const secrets = (spec.env ?? []).map(({ value }) => value).filter((value) => value.length >= 6);
  const said = secrets.reduce((shown, secret) => shown.replaceAll(secret, '***'), errors);
  const how = code === null ? 'was killed after a minute' : `returned ${code}`;
  return new Fault('unauthenticated', `${spec.command} gave no credential, it ${how}: ${plainMessage(said)}`, {
    remedy: `Run ${spec.command} by hand where the server runs, as the user that the server runs as.`,
  });
}

interface Granted extends ExecCredential {
  readonly expiresAt: number;
}

function grantedBy({ spec: { value: spec } }: ExecPluginOptions, output: string): Granted {
  let answer: unknown;
  try {
    answer = JSON.parse(output);
  } catch {
    answer = undefined;
  }
  const { data } = Answer.safeParse(answer);
  const { token, clientCertificateData: cert, clientKeyData: key, expirationTimestamp } = data?.status ?? {};
  // What it printed may be half a credential, so no message shows it.
  if (!data || (!token && !(cert && key)))
    throw new Fault('unauthenticated', `${spec.command} printed no ExecCredential with a token or a certificate.`);
  if (data.apiVersion !== spec.apiVersion)
    throw new Fault(
      'invalid',
      `${spec.command} answers as ${data.apiVersion}, the kubeconfig wants ${spec.apiVersion}.`,
    );
  const expiresAt = expirationTimestamp ? Date.parse(expirationTimestamp) : Number.NaN;
  return { token, cert, key, expiresAt: Number.isNaN(expiresAt) ? Number.POSITIVE_INFINITY : expiresAt };
}

function check({ spec: { value: spec } }: ExecPluginOptions): void {
  if (!API_VERSIONS.includes(spec.apiVersion ?? ''))
    throw new Fault('unsupported', `The exec plugin ${spec.command} wants ${spec.apiVersion ?? 'no apiVersion'}.`, {
      remedy: `Use ${API_VERSIONS.join(' or ')} in the kubeconfig.`,
    });
  if (spec.interactiveMode === 'Always')
    throw new Fault('unsupported', `The exec plugin ${spec.command} wants a terminal, and the server has none.`, {
      remedy: 'Use a credential that works without questions, such as the token of a service account.',
    });
}

/** Waits for it, or until the caller gives up; the run itself goes on for the others. */
function unlessGivenUp<T>(run: Promise<T>, signal: AbortSignal): Promise<T> {
  return new Promise((resolve, reject) => {
    const givenUp = (): void => reject(new Fault('unavailable', 'Waiting for a credential was given up.'));
    signal.addEventListener('abort', givenUp, { once: true });
    run.then(resolve, reject).finally(() => signal.removeEventListener('abort', givenUp));
  });
}

export function openExecPlugin(options: ExecPluginOptions): ExecPlugin {
  const { clock } = options;
  const ending = new AbortController();
  let held: Granted | undefined;
  let running: Promise<Granted> | undefined;
  let failed: { readonly fault: Fault; readonly untilMs: number } | undefined;

  async function run(): Promise<Granted> {
    check(options);
    const ended = await runScript(scriptOf(options), clock, ending.signal);
    if (ending.signal.aborted) throw closed();
    if (ended.code !== 0) throw failure(options, ended);
    return grantedBy(options, ended.output);
  }

  function renewed(): Promise<Granted> {
    running ??= run()
      .then((granted) => {
        failed = undefined;
        held = granted;
        return granted;
      })
      .catch((thrown) => {
        // A program that fails is not started anew for every request.
        failed = { fault: Fault.from(thrown), untilMs: clock.monotonic() + AGAIN_AFTER_MS };
        throw thrown;
      })
      .finally(() => {
        running = undefined;
      });
    return running;
  }

  return {
    async get(signal) {
      if (signal.aborted) throw new Fault('unavailable', 'Waiting for a credential was given up.');
      if (held && held.expiresAt - clock.now() > RENEW_BEFORE_MS) return held;
      const isGood = held !== undefined && held.expiresAt > clock.now();
      if (failed && clock.monotonic() < failed.untilMs) {
        if (held && isGood) return held;
        throw failed.fault;
      }
      return await unlessGivenUp(renewed(), signal).catch((thrown) => {
        if (held && isGood && !signal.aborted) return held;
        throw thrown;
      });
    },
    refused() {
      held = undefined;
    },
    close: () => ending.abort(),
  };
}
