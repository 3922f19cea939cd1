// rsync as a peer, where the machine has it: a daemon on loopback that takes copies of folders.
import { execFile, spawn } from 'node:child_process';
import { mkdirSync, writeFileSync } from 'node:fs';
import { connect } from 'node:net';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { systemClock } from '#core/clock.ts';
import { freePort } from '#core/testing/free-port.ts';
import { until } from '#core/testing/until.ts';

const run = promisify(execFile);

export interface Rsync {
  /** Milliseconds of `rsync -a` of a folder to that name at the daemon. */
  copy(folder: string, name: string): Promise<number>;
  stop(): void;
}

const isOpen = (port: number): Promise<boolean> =>
  new Promise((resolve) => {
    const socket = connect(port, '127.0.0.1', () => {
      socket.destroy();
      resolve(true);
    });
    socket.once('error', () => resolve(false));
  });

/** Nothing where there is no rsync. */
export async function startRsync(folder: string): Promise<Rsync | undefined> {
  const hasRsync = await run('rsync', ['--version']).then(
    () => true,
    () => false,
  );
  if (!hasRsync) return undefined;
  const port = await freePort();
  const [path, config] = [join(folder, 'copies'), join(folder, 'rsyncd.conf')];
  mkdirSync(path);
  // A daemon of root gives its rights away otherwise, and could not write there.
  const own = process.getuid?.() === 0 ? ['uid = 0', 'gid = 0'] : [];
  writeFileSync(config, ['use chroot = no', ...own, '[copies]', `path = ${path}`, 'read only = no', ''].join('\n'));
  const words = ['--daemon', '--no-detach', '--address=127.0.0.1', `--port=${port}`, `--config=${config}`];
  const daemon = spawn('rsync', words, { stdio: 'ignore' });
  await until('the rsync daemon listens', () => isOpen(port));
  return {
    async copy(from, name) {
      const startMs = systemClock.monotonic();
      await run('rsync', ['-a', `${from}/`, `rsync://127.0.0.1:${port}/copies/${name}/`]);
      return systemClock.monotonic() - startMs;
    },
    stop: () => void daemon.kill(),
  };
}
