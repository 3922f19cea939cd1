import { Writable } from 'node:stream';
import { describe, expect, it } from 'vitest';
import { z } from 'zod';
import { readEnvironment } from '#config/environment.ts';
import type { KnownKinds } from '#config/kinds.ts';
import { readServerFile } from '#config/server-file.ts';
import type { AgentLink } from '#core/agent-link.ts';
import { type Clock, MINUTE_MS } from '#core/clock.ts';
import { Fault } from '#core/fault.ts';
import { type Backend, type Context, kind, type Source } from '#core/provider.ts';
import { seededRandom } from '#core/random.ts';
import { environmentMap, secret } from '#core/schema.ts';
import type { Store } from '#core/store.ts';
import { VirtualClock } from '#core/virtual-clock.ts';
import { makeRedactor, type Redactor } from '#journal/redact.ts';
import { emptyDisk, memoryDriver } from '#store/memory.ts';
import { openStore } from '#store/store.ts';
import { openLog } from './logging.ts';
import { startPlane } from './plane.ts';
import { learnConfig, learnStored } from './secrets.ts';

const TOKEN = 'tok-5e6f7a8b9c';

const config = z.strictObject({
  account: z.strictObject({ apiToken: secret() }),
  env: environmentMap().optional(),
});
const base = { summary: '', config, example: {}, trust: 'any source' } as const;

const KINDS: KnownKinds = {
  backends: {
    rented: kind({
      ...base,
      async open({ account }): Promise<Backend> {
        const refuse = (what: string) => async (): Promise<never> => {
          throw new Fault('denied', `${what} with ${account.apiToken} was refused`);
        };
        return { cloud: 'rented', list: async () => [], create: refuse('create'), delete: refuse('delete') };
      },
    }),
  },
  sources: { bucket: kind({ ...base, open: async (): Promise<Source> => ({ documents: async () => [] }) }) },
};

const DOCUMENT = JSON.stringify({
  name: 'gpu',
  auto_scaler: { backend: { rented: { account: { api_token: TOKEN } } }, min_agents: 1, max_agents: 1 },
});

/** A server whose only cloud refuses everything, and names the token when it does. */
async function live(disk = emptyDisk(), isReadable = true) {
  const clock = new VirtualClock();
  const written: string[] = [];
  const output = new Writable({
    write(chunk, _encoding, done) {
      written.push(String(chunk));
      done();
    },
  });
  const redactor = makeRedactor();
  const log = openLog({ level: 'debug', format: 'json', output, clock, redactor });
  const random = seededRandom(1);
  const store = await openStore(memoryDriver(disk), () => {});
  const version = '1';
  const documents = async () => {
    if (!isReadable) throw new Fault('unavailable', 'The bucket does not answer.');
    return [{ key: 'gpu', version, text: DOCUMENT }];
  };
  const plane = await startPlane({
    store,
    clock,
    random,
    log,
    redactor,
    kinds: KINDS,
    context: { cluster: store.cluster, clock, random, log } as unknown as Context,
    link: { send: () => false, dismiss() {} } as unknown as AgentLink,
    sources: [{ id: 'one', kind: 'bucket', everyMs: MINUTE_MS, source: { documents }, trust: 'foreign' }],
    agentConfig: () => '',
  });
  await clock.advance(10 * MINUTE_MS);
  const [pool] = [...store.view.pools.all()];
  const events = await store.history.events({}, { limit: 100, order: 'oldest first' });
  const trouble = plane.workers.trouble(pool?.id ?? '')?.message ?? '';
  const ended = JSON.stringify(disk.histories.endedMachines);
  return { disk, written: written.join(''), events: JSON.stringify(events), ended, trouble: redactor.text(trouble) };
}

describe('the token of a kind in the error text of its cloud is hidden', () => {
  it('in log, events and answers, where it came with a document', async () => {
    const { written, events, ended, trouble } = await live();

    for (const text of [written, events, ended, trouble]) {
      expect(text).toContain('with [hidden] was refused');
      expect(text).not.toContain(TOKEN);
    }
  });

  it('where an earlier process has stored it', async () => {
    const { disk } = await live();

    const { written, trouble } = await live(disk, false);

    expect(trouble).toContain('with [hidden] was refused');
    expect(written).not.toContain(TOKEN);
  });
});

it('the secrets of every source and pool of the file are known, and of their environment those named as secrets', async () => {
  const redactor = makeRedactor();
  const chosen = (token: string, env: object) => ({ account: { api_token: token }, env });
  const file = {
    provisioners: [{ bucket: chosen('tok-of-source', { HF_TOKEN: 'tok-of-env', STAGE: 'production' }) }],
    agent_pools: [{ name: 'a', auto_scaler: { backend: { rented: chosen('tok-of-pool', {}) } } }],
  };
  const { value } = readServerFile(JSON.stringify(file), { kinds: KINDS, environment: readEnvironment({}) });
  if (!value) throw new Error('The file was refused.');

  await learnConfig(redactor, KINDS, { config: value, clock: new VirtualClock() });

  expect(redactor.text('tok-of-source tok-of-pool tok-of-env production')).toBe(
    '[hidden] [hidden] [hidden] production',
  );
});

it('the secrets of ten thousand stored pools are learned without a stall', async () => {
  const clock = new VirtualClock();
  let nowMs = 0;
  let turnMs = 0;
  let longestMs = 0;
  const learned = new Set<string>();
  const busy = {
    monotonic: () => nowMs,
    soon(run: () => void) {
      longestMs = Math.max(longestMs, nowMs - turnMs);
      turnMs = nowMs;
      clock.soon(run);
    },
  } as Clock;
  const redactor: Redactor = {
    ...makeRedactor(),
    learn(value) {
      nowMs += 1;
      learned.add(value);
    },
  };
  const offers = Array.from({ length: 10_000 }, (_, at) => ({
    id: `o${at}`,
    kind: 'rented',
    config: { account: { apiToken: `tok-${at}` } },
  }));
  const pools = offers.map((offer) => ({ spec: { offers: [offer] } }));
  const view = { offers: { all: () => offers }, pools: { all: () => pools } };

  const done = learnStored(redactor, KINDS, { store: { view } as unknown as Store, clock: busy });
  await clock.settle();
  await done;

  expect(learned.size).toBe(10_000);
  expect(longestMs).toBeLessThan(50);
  expect(nowMs - turnMs).toBeLessThan(50);
});
