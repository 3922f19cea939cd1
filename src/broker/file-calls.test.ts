import { EventEmitter } from 'node:events';
import { describe, expect, it } from 'vitest';
import { put } from '#core/store.ts';
import { FetchFilesRequestSchema, FilePieceSchema } from '#wire/gen/velda/muster_pb.ts';
import { decode, encode } from '#wire/messages.ts';
import { emptyDisk, memoryDriver } from '../store/memory.ts';
import { openStore } from '../store/store.ts';
import { fileCalls } from './file-calls.ts';
import type { AnswerStream, AnswerStreamMethod, RpcCaller } from './method.ts';

const CONTENTS: Readonly<Record<string, string>> = {
  manifest: 'the manifest',
  h0: 'zero',
  h1: '',
  h2: 'x'.repeat(600_000),
};

async function aBroker() {
  const store = await openStore(memoryDriver(emptyDisk()), () => {});
  const session = (id: string, worker: string, attempt: number) =>
    put('sessions', { id, pool: 'p', worker, attempt, spec: { labels: {}, files: { manifest: 'manifest' } } } as never);
  await store.commit([session('s1', 'm-1', 2), session('s2', 'm-2', 1)]);
  const keys: Readonly<Record<string, string>> = { 'm-1': 'key1', 'm-2': 'key2' };
  const method = fileCalls(
    {
      agents: { get: (name) => (keys[name] === undefined ? undefined : ({ key: keys[name] } as never)) },
      view: store.view,
      files: {
        contentsOf: async () => ['h0', 'h1', 'h2'],
        async *read(hash) {
          yield Buffer.from(CONTENTS[hash] ?? '');
        },
      },
    },
    new AbortController().signal,
  )['/velda.MusterFileService/FetchFiles'] as AnswerStreamMethod;

  /** The texts that an agent gets. */
  return async (
    agent: string,
    key: string | undefined,
    request: { session: string; attempt: number; numbers?: number[] },
  ) => {
    const header = (name: string) => ({ 'x-muster-agent': agent, 'x-muster-agent-key': key })[name];
    const serve = await method.admit({ header } as RpcCaller);
    const texts: string[] = [];
    let text = '';
    const call = Object.assign(new EventEmitter(), {
      request: Buffer.from(encode(FetchFilesRequestSchema, request)),
      write(bytes: Uint8Array, taken: () => void) {
        const { data, isLast } = decode(FilePieceSchema, bytes);
        text += Buffer.from(data).toString();
        if (isLast) texts.push(text);
        if (isLast) text = '';
        taken();
      },
    });
    await serve(call as unknown as AnswerStream);
    return texts;
  };
}

describe('an agent fetches the files', () => {
  it('of a session that is placed on it: the manifest, then contents by their numbers', async () => {
    const fetch = await aBroker();

    expect(await fetch('m-1', 'key1', { session: 's1', attempt: 2 })).toEqual(['the manifest']);
    expect(await fetch('m-1', 'key1', { session: 's1', attempt: 2, numbers: [2, 1, 0] })).toEqual([
      CONTENTS.h2,
      '',
      'zero',
    ]);
  });

  it('of no other session, of no earlier attempt, and of none that is unknown', async () => {
    const fetch = await aBroker();

    for (const request of [
      { session: 's2', attempt: 1 },
      { session: 's1', attempt: 1 },
      { session: 's3', attempt: 1 },
    ])
      await expect(fetch('m-1', 'key1', request)).rejects.toMatchObject({ kind: 'denied' });
  });

  it('only with the key that its own stream shows', async () => {
    const fetch = await aBroker();
    const request = { session: 's1', attempt: 2 };

    for (const [agent, key] of [
      ['m-1', 'key2'],
      ['m-1', undefined],
      ['m-3', 'key1'],
      ['%zz', 'key1'],
    ] as const)
      await expect(fetch(agent, key, request)).rejects.toMatchObject({ kind: 'unavailable' });
  });

  it('by numbers that its manifest has', async () => {
    const fetch = await aBroker();

    await expect(fetch('m-1', 'key1', { session: 's1', attempt: 2, numbers: [3] })).rejects.toMatchObject({
      kind: 'invalid',
    });
  });
});
