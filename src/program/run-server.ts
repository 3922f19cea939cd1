import { resolve } from 'node:path';
import { styleText } from 'node:util';
import type { Environment } from '#config/environment.ts';
import { systemClock } from '#core/clock.ts';
import { parseStoreUrl } from '#store/store-url.ts';
import type { RunningHolder } from './holder.ts';
import { onSignals, stopThenForce } from './interrupts.ts';
import { type Server, startServer, storeUrl } from './server.ts';
import { rememberDataDir } from './user-folder.ts';
import { isCheckout, readVersion } from './version.ts';

export interface RunServerOptions {
  readonly config?: string | undefined;
  readonly keepAgents?: boolean | undefined;
  readonly environment: Environment;
}

function banner({ http }: RunningHolder, file: string | undefined): string {
  const bold = (text: string): string => styleText('bold', text);
  const [where, muster] = isCheckout() ? [', in this folder', 'npx muster'] : ['', 'muster'];
  return `
  ${bold('Muster')} listens on ${bold(http)}  (configuration: ${file ?? 'built in'})

  In a second terminal${where}:

    ${bold(`${muster} run -- uname -a`)}
    ${muster} pool ls -w
    ${muster} --help

  Ctrl-C stops the server and its idle local agents.
`;
}

// A person waits at the terminal; the next start adopts the agents that are left.
const STOP_AGENTS_WITHIN_MS = 10_000;

/** Stops idle agents on this computer; agents with sessions go on, and the next start adopts them. */
async function stopIdleAgents(server: Server): Promise<void> {
  await Promise.race([server.holder()?.standDown(), systemClock.sleep(STOP_AGENTS_WITHIN_MS)]);
}

export interface StopFacts {
  readonly signal: NodeJS.Signals;
  readonly keepAgents?: boolean | undefined;
  /** What started the server starts it again, so its agents go on meanwhile. */
  readonly isSupervised: boolean;
  /** Another replica takes over, and with it the agents. */
  readonly hasStandbys: boolean;
}

/** Whether idle local agents end with the server. Ctrl-C is a person who wants it gone; SIGTERM may be a restart. */
export function takesAgentsAlong({ signal, keepAgents, isSupervised, hasStandbys }: StopFacts): boolean {
  if (keepAgents) return false;
  return signal === 'SIGINT' || !(isSupervised || hasStandbys);
}

/** Runs the server until a signal stops it; a store that fails ends it at once. */
export async function runServer(options: RunServerOptions): Promise<void> {
  const version = readVersion();
  const server = await startServer({ ...options, version, clock: systemClock, output: process.stderr });
  rememberDataDir(options.environment, resolve(server.loaded.config.dataDir));
  const { promise: stopSignal, resolve: signalled } = Promise.withResolvers<NodeJS.Signals>();
  const stopListening = onSignals(
    ['SIGINT', 'SIGTERM'],
    stopThenForce(systemClock, signalled, () => process.exit(1)),
  );
  const stopReloading = onSignals(['SIGHUP'], () => server.reload());
  void server.ready.then(
    (holder) => process.stderr.isTTY && process.stderr.write(banner(holder, server.loaded.file)),
    () => {},
  );

  const signal = await Promise.race([stopSignal, server.failed]);
  const { log } = server;
  log('info', 'stopping', { signal });
  const isSupervised = options.environment.invocation !== undefined;
  const hasStandbys = parseStoreUrl(storeUrl(server.loaded.config)).kind === 'postgres';
  if (takesAgentsAlong({ signal, keepAgents: options.keepAgents, isSupervised, hasStandbys })) {
    await stopIdleAgents(server);
  }
  await server.stop();
  stopListening();
  stopReloading();
  log('info', 'stopped');
}
