import { mkdir, mkdtemp, rm, symlink, unlink, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { systemClock } from '#core/clock.ts';
import type { Context } from '#core/provider.ts';
import { systemRandom } from '#core/random.ts';
import { openShared } from '#core/shared.ts';
import { testSource } from '../../conformance/source.ts';
import type { SourceWorld } from '../../conformance/source-world.ts';
import provider from './index.ts';

async function openWorld(): Promise<SourceWorld> {
  const base = await mkdtemp(join(tmpdir(), 'muster-file-laws-'));
  const root = join(base, 'pools');
  const lines: string[] = [];
  const context: Context = {
    cluster: 'cluster1',
    clock: systemClock,
    random: systemRandom,
    log: (level, message, fields) => lines.push(`${level} ${message} ${JSON.stringify(fields ?? {})}`),
    fetch,
    shared: openShared(),
    dataDir: base,
    agentCommand: [],
  };
  const { file } = provider.sources;
  const pathOf = (name: string): string => join(root, 'team', `${name}.json`);
  await mkdir(join(root, 'team'), { recursive: true });
  return {
    open: () => file.open(file.config.parse({ path: root }), context),
    async write(name, text) {
      await writeFile(pathOf(name), text);
      return `team/${name}.json`;
    },
    remove: (name) => unlink(pathOf(name)),
    during: (call) => call,
    logged: () => lines.join('\n'),
    async spoil(name) {
      await unlink(pathOf(name));
      await symlink('nowhere', pathOf(name));
    },
    breakListing: () => rm(root, { recursive: true }),
    fail: () => rm(root, { recursive: true }),
    close: () => rm(base, { recursive: true, force: true }),
  };
}

testSource('a directory of files', {
  kind: provider.sources.file,
  openWorld,
  many: 300,
  faults: ['missing'],
  excuses: { hangs: 'a read of the file system cannot be cancelled; its caller stops waiting' },
});
