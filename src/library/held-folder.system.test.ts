import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, onTestFinished, test } from 'vitest';
import { Fault } from '#core/fault.ts';
import { holdFolder, isUsedFolder, storeFolder } from './held-folder.ts';
import { systemParts } from './system-parts.ts';

function scratch(): string {
  const folder = mkdtempSync(join(tmpdir(), 'muster-held-'));
  onTestFinished(() => rmSync(folder, { recursive: true, force: true }));
  return join(folder, 'box');
}

const HOLD = `
const [folder] = process.argv.slice(1);
const { holdFolder } = await import(${JSON.stringify(join(import.meta.dirname, 'held-folder.ts'))});
await holdFolder(folder, 0);
process.send('held');
await new Promise(() => process.channel.ref());
`;

test('a folder that another process holds is refused with who holds it, until that one is killed', async () => {
  const folder = scratch();
  const words = ['--input-type=module', '--eval', HOLD, folder];
  const child = spawn(process.execPath, words, { stdio: ['ignore', 'ignore', 'ignore', 'ipc'] });
  await once(child, 'message');

  const refused = await holdFolder(folder, 0).catch(Fault.from);
  expect(refused).toMatchObject({ kind: 'conflict', at: folder });
  expect((refused as Fault).message).toContain(`process ${child.pid} `);

  child.kill('SIGKILL');
  await once(child, 'exit');
  const held = await holdFolder(folder, 0);
  const again = await holdFolder(folder, 0).catch(Fault.from);
  expect((again as Fault).message).toContain('another object of this process');
  held.release();
  (await holdFolder(folder, 0)).release();
});

test('the store of a computer is opened again where it was closed', async () => {
  const folder = scratch();
  const parts = systemParts();
  const lost = (fault: Fault): void => expect.unreachable(fault.message);
  expect(isUsedFolder(folder)).toBe(false);

  const first = await parts.openStore(folder, () => {}, lost);
  await first.close();
  const second = await parts.openStore(folder, () => {}, lost);
  await second.close();

  expect(isUsedFolder(folder)).toBe(true);
  expect(second.store.cluster).toBe(first.store.cluster);
  expect(storeFolder(folder)).toBe(join(folder, 'store'));
});
