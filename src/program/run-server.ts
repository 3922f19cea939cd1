import { styleText } from 'node:util';
import type { Environment } from '#config/environment.ts';
import { systemClock } from '#core/clock.ts';
import type { Holding } from './holding.ts';
import { onSignals } from './interrupts.ts';
import { type Server, startServer } from './server.ts';
import { readVersion } from './version.ts';

export interface RunServerOptions {
  readonly config?: string | undefined;
  readonly keepAgents?: boolean | undefined;
  readonly environment: Environment;
}

function banner({ http }: Holding, file: string | undefined): string {
  const bold = (text: string): string => styleText('bold', text);
  return `
  ${bold('Muster')} serves at ${bold(http)}  (configuration: ${file ?? 'built in'})

  Try it in a second terminal, in this folder:

    ${bold('npx muster run -- uname -a')}
    npx muster pool ls -w
    npx muster --help

  Ctrl-C ends it.
`;
}

// Whoever waits for a terminal wants it back; what is left is found again at the next start.
const PATIENCE_MS = 10_000;

/** Stops idle agents on this computer; those with sessions finish them, and are found again at the next start. */
async function takeAlong(server: Server): Promise<void> {
  await Promise.race([server.holding()?.standDown(), systemClock.sleep(PATIENCE_MS)]);
}

/** Runs the server until it is told to end; a store that fails ends it at once. */
export async function runServer(options: RunServerOptions): Promise<void> {
  const version = readVersion();
  const server = await startServer({ ...options, version, clock: systemClock, output: process.stderr });
  const { promise: told, resolve: tell } = Promise.withResolvers<NodeJS.Signals>();
  let times = 0;
  const stopListening = onSignals(['SIGINT', 'SIGTERM'], (signal) => {
    times += 1;
    if (times > 1) process.exit(1);
    tell(signal);
  });
  const stopReloading = onSignals(['SIGHUP'], () => server.reload());
  void server.ready.then(
    (holding) => process.stderr.isTTY && process.stderr.write(banner(holding, server.loaded.file)),
    () => {},
  );

  const signal = await Promise.race([told, server.failed]);
  const { log } = server;
  log('info', 'stopping', { signal });
  if (signal === 'SIGINT' && !options.keepAgents) await takeAlong(server);
  await server.stop();
  stopListening();
  stopReloading();
  log('info', 'stopped');
}
