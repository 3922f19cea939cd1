import { once } from 'node:events';
import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { buffer } from 'node:stream/consumers';
import * as tar from 'tar';
import { expect, onTestFinished, test } from 'vitest';
import { WebSocketServer } from 'ws';
import { openClient } from './client.ts';
import { copyFiles } from './cp.ts';
import { openScene } from './testing.ts';

const COPIES = 20;

test('copies are whole where the server closes as soon as it has sent them, and each of them ends', async () => {
  const folder = mkdtempSync(join(tmpdir(), 'muster-cp-'));
  onTestFinished(() => rmSync(folder, { recursive: true }));
  mkdirSync(join(folder, 'there'));
  writeFileSync(join(folder, 'there', 'hosts'), 'localhost\n');
  const archive = await buffer(tar.c({ cwd: join(folder, 'there') }, ['hosts']));
  const server = new WebSocketServer({ port: 0, host: '127.0.0.1' });
  onTestFinished(() => void server.close());
  server.on('connection', (socket) => {
    socket.send(Buffer.from('file boot 1:2\n'));
    socket.send(archive);
    socket.send('{"eof":true}');
    socket.close(1000);
  });
  await once(server, 'listening');
  const address = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;

  const targets = Array.from({ length: COPIES }, (_, nth) => join(folder, `${nth}`));
  await Promise.all(
    targets.map((target) =>
      copyFiles(openScene(() => ({})).cli, openClient({ address, token: 't', why: 'given' }, fetch), {
        sides: ['sweep:/etc/hosts', target],
      }),
    ),
  );

  expect(targets.filter((target) => readFileSync(target, 'utf8') !== 'localhost\n')).toEqual([]);
});
