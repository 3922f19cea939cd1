import { mkdtemp, rename, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { systemClock } from '#core/clock.ts';
import { FileConfig } from './config.ts';
import { openFileSource } from './source.ts';

it('hears of a file that is written anew, and of one that is renamed into place', async () => {
  const root = await mkdtemp(join(tmpdir(), 'muster-watch-'));
  const source = await openFileSource(FileConfig.parse({ path: root }), { clock: systemClock });
  const end = new AbortController();
  let heard = (): void => {};
  source.watch?.(() => heard(), end.signal);
  const hint = () => new Promise<void>((resolve) => (heard = resolve));

  try {
    const first = hint();
    await writeFile(join(root, 'a.yaml'), 'a');
    await first;
    const second = hint();
    await writeFile(join(root, '.new'), 'b');
    await rename(join(root, '.new'), join(root, 'b.yaml'));
    await second;

    const documents = await source.documents(new Map(), end.signal);
    expect(documents.map(({ key, text }) => [key, text])).toEqual([
      ['a.yaml', 'a'],
      ['b.yaml', 'b'],
    ]);
  } finally {
    end.abort();
    await rm(root, { recursive: true });
  }
});
