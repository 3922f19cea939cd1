import { mkdtemp, readFile, rm, stat, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { describe, expect, it, onTestFinished } from 'vitest';
import type { JoinProof } from '#core/agent-link.ts';
import { Fault } from '#core/fault.ts';
import type { Actor, EventRow } from '#core/journal.ts';
import type { Level } from '#core/log.ts';
import type { Pool } from '#core/pool.ts';
import { seededRandom } from '#core/random.ts';
import { append, put } from '#core/store.ts';
import { VirtualClock } from '#core/virtual-clock.ts';
import { type Disk, emptyDisk, memoryDriver } from '../store/memory.ts';
import { openStore } from '../store/store.ts';
import { type Access, type Caller, openAccess } from './access.ts';

const admin: Actor = { who: 'token:admin', from: '127.0.0.1' };

async function temporaryDirectory(): Promise<string> {
  const directory = await mkdtemp(join(tmpdir(), 'muster-access-'));
  onTestFinished(() => rm(directory, { recursive: true }));
  return directory;
}

async function world({ disk = emptyDisk(), dataDir, seed = 1 }: { disk?: Disk; dataDir?: string; seed?: number } = {}) {
  const clock = new VirtualClock();
  const lines: { level: Level; message: string; fields: unknown }[] = [];
  const store = await openStore(memoryDriver(disk), () => {});
  let events = 0;
  const access = await openAccess({
    store,
    clock,
    random: seededRandom(seed),
    log: (level, message, fields) => void lines.push({ level, message, fields }),
    event: (event, actor = admin) => append('events', { id: `e${events++}`, at: clock.now(), ...actor, ...event }),
    dataDir,
  });
  return { access, clock, store, disk, lines };
}

function pool(auth: Pool['spec']['agentAuth'], networks: readonly string[] = []): Pool {
  const spec = { name: 'gpu', agentAuth: auth, agentNetworks: networks, offers: [] } as unknown as Pool['spec'];
  return { id: 'p1', name: 'gpu', spec } as unknown as Pool;
}

const kindOf = (act: () => unknown): string | undefined => {
  try {
    act();
    return undefined;
  } catch (thrown) {
    return Fault.from(thrown).kind;
  }
};

const knock = (access: Access, at: Pool, proof: Partial<JoinProof>, name = 'm-gpu-1') =>
  access.admit({ pool: at, name, proof: { peerAddress: '10.0.0.7', ...proof } });

describe('launch tokens', () => {
  it('are the same for the same launch, also after a restart, and name it', async () => {
    const { access, disk } = await world();
    const { access: restarted } = await world({ disk, seed: 2 });

    expect(access.launchToken('01abc')).toBe(restarted.launchToken('01abc'));
    expect(access.launchToken('01abc')).not.toBe(access.launchToken('01abd'));
    expect(restarted.verifyLaunchToken(access.launchToken('01abc'))).toBe('01abc');
  });

  it('are refused when forged, cut, moved to another launch or made by another cluster', async () => {
    const { access } = await world();
    const { access: other } = await world({ seed: 2 });
    const token = access.launchToken('01abc');

    const forged = [
      '',
      'mlt_',
      'mlt_01abc',
      token.slice(0, -1),
      `${token}x`,
      token.replace('01abc', '01abd'),
      `${token.slice(0, -1)}${token.endsWith('A') ? 'B' : 'A'}`,
      `mlt__${token.slice(-43)}`,
      token.replace('mlt_', 'mjt_'),
      other.launchToken('01abc'),
      `mlt_01abc_${'é'.repeat(43)}`,
    ];

    for (const text of forged) expect(access.verifyLaunchToken(text), text).toBeUndefined();
  });
});

describe('tokens', () => {
  it('open the API with their role, and only their hash is kept', async () => {
    const { access, disk } = await world();

    const { text } = await access.createToken({ name: 'ci', use: { role: 'operator' } }, admin);

    const caller = access.authenticate({ authorization: `Bearer ${text}`, from: '10.0.0.7' });
    expect(caller).toMatchObject({ who: 'token:ci', from: '10.0.0.7', role: 'operator', by: 'header' });
    expect(text).toMatch(/^mat_[\w-]{43}$/);
    const kept = JSON.stringify([[...(disk.rows.get('tokens')?.values() ?? [])], disk.histories]);
    expect(kept).not.toContain(text.slice(4));
  });

  it('end when they expire or are revoked', async () => {
    const { access, clock } = await world();
    const expiresAt = clock.now() + 60_000;
    const short = await access.createToken({ name: 'short', use: { role: 'viewer' }, expiresAt }, admin);
    const revoked = await access.createToken({ name: 'revoked', use: { role: 'viewer' } }, admin);
    const call = (text: string) => kindOf(() => access.authenticate({ authorization: `Bearer ${text}`, from: 'x' }));

    const before = [call(short.text), call(revoked.text)];
    await clock.advance(60_000);
    await access.revokeToken(revoked.token.id, admin);
    const after = [call(short.text), call(revoked.text)];

    expect(before).toEqual([undefined, undefined]);
    expect(after).toEqual(['unauthenticated', 'unauthenticated']);
  });

  it('hold for a connection that has shown one only with the role that it had', async () => {
    const { access, store } = await world();
    const { text, token } = await access.createToken({ name: 'x', use: { role: 'operator' } }, admin);
    const caller = access.authenticate({ authorization: `Bearer ${text}`, from: 'x' });

    expect(access.stillHolds(caller)).toBe(true);
    await store.commit([put('tokens', { ...token, use: { role: 'viewer' } })]);
    expect(access.stillHolds(caller)).toBe(false);
  });

  it('long expired are forgotten when the next one is made', async () => {
    const { access, clock, store } = await world();
    await access.createToken({ name: 'old', use: { role: 'viewer' }, expiresAt: clock.now() + 1 }, admin);

    await clock.advance(8 * 86_400_000);
    await access.createToken({ name: 'new', use: { role: 'viewer' } }, admin);

    expect([...store.view.tokens.all()].map((token) => token.name)).toEqual(['new']);
  });

  it.each([undefined, '', 'Bearer', 'Bearer ', 'Basic abc', 'Bearer mat_nonsense', 'mat_x', 'Bearer a b'])(
    'refuses the header %s',
    async (authorization) => {
      const { access } = await world();

      expect(kindOf(() => access.authenticate({ authorization, from: 'x' }))).toBe('unauthenticated');
    },
  );

  it('for joining a pool do not open the API', async () => {
    const { access } = await world();
    const { text } = await access.createToken({ name: 'j', use: { join: 'p1' } }, admin);

    expect(kindOf(() => access.authenticate({ authorization: `Bearer ${text}`, from: 'x' }))).toBe('unauthenticated');
  });

  it('leave events that say who, from where and what, but not the token', async () => {
    const { access, disk } = await world();

    const { token, text } = await access.createToken({ name: 'j', use: { join: 'p1' } }, admin);
    await access.revokeToken(token.id, admin);

    const events: EventRow[] = disk.histories.events;
    expect(events.map((event) => event.kind)).toEqual(['token.created', 'token.revoked']);
    expect(events[0]).toMatchObject({ who: 'token:admin', from: '127.0.0.1', pool: 'p1' });
    expect(JSON.stringify(events)).not.toContain(text);
  });
});

describe('the admin token of this machine', () => {
  it('is written at the first start for its owner alone, and kept at the next', async () => {
    const dataDir = await temporaryDirectory();
    const { access, disk } = await world({ dataDir });
    const file = join(dataDir, 'admin.token');
    const text = (await readFile(file, 'utf8')).trim();

    const { access: restarted } = await world({ dataDir, disk, seed: 2 });

    expect((await stat(file)).mode & 0o777).toBe(0o600);
    expect((await readFile(file, 'utf8')).trim()).toBe(text);
    for (const one of [access, restarted])
      expect(one.authenticate({ authorization: `Bearer ${text}`, from: 'x' }).role).toBe('admin');
  });

  it('is replaced where the file holds one that is worth nothing', async () => {
    const dataDir = await temporaryDirectory();
    await writeFile(join(dataDir, 'admin.token'), 'mat_stale\n', { mode: 0o644 });

    const { access } = await world({ dataDir });

    const text = (await readFile(join(dataDir, 'admin.token'), 'utf8')).trim();
    expect(access.authenticate({ authorization: `Bearer ${text}`, from: 'x' }).role).toBe('admin');
    expect((await stat(join(dataDir, 'admin.token'))).mode & 0o777).toBe(0o600);
  });

  it('does not pile up where data directories come and go', async () => {
    const disk = emptyDisk();

    for (let seed = 1; seed <= 20; seed++) await world({ disk, seed, dataDir: await temporaryDirectory() });

    expect(disk.rows.get('tokens')?.size).toBe(16);
  });
});

describe('login links', () => {
  /** Someone who shows a token of their own. */
  async function someone(access: Access, expiresAt?: number) {
    const { text } = await access.createToken({ name: 'me', use: { role: 'operator' }, expiresAt }, admin);
    return access.authenticate({ authorization: `Bearer ${text}`, from: 'x' });
  }

  const browserOf = (access: Access, text: string) =>
    access.authenticate({ cookie: `muster_session=${text}`, from: 'x' });

  /** An unused link, a browser, and another one that the first let in. */
  async function chainFrom(access: Access, caller: Caller) {
    const unused = access.createLoginLink('viewer', caller);
    const first = await access.exchangeLogin(access.createLoginLink('operator', caller).code, 'x');
    const fromFirst = access.createLoginLink('viewer', browserOf(access, first.text));
    return { unused, first, second: await access.exchangeLogin(fromFirst.code, 'x') };
  }

  it('let one browser in, once', async () => {
    const { access } = await world();
    const { code } = access.createLoginLink('viewer', await someone(access));

    const { text } = await access.exchangeLogin(code, '10.0.0.9');

    const seen = access.authenticate({ cookie: `a=b; muster_session=${text}`, from: '10.0.0.9' });
    expect(seen).toMatchObject({ role: 'viewer', by: 'cookie' });
    await expect(access.exchangeLogin(code, '10.0.0.9')).rejects.toMatchObject({ kind: 'unauthenticated' });
  });

  it('are void after five minutes, and the session after twelve hours', async () => {
    const { access, clock } = await world();
    const caller = await someone(access);
    const late = access.createLoginLink('viewer', caller);
    const early = access.createLoginLink('viewer', caller);
    const { text } = await access.exchangeLogin(early.code, 'x');

    await clock.advance(5 * 60_000);
    await expect(access.exchangeLogin(late.code, 'x')).rejects.toMatchObject({ kind: 'unauthenticated' });
    await clock.advance(12 * 3_600_000);

    expect(kindOf(() => browserOf(access, text))).toBe('unauthenticated');
  });

  it('never give more than the caller has', async () => {
    const { access } = await world();
    const caller = await someone(access);

    expect(kindOf(() => access.createLoginLink('admin', caller))).toBe('denied');
    expect(kindOf(() => access.createLoginLink('operator', caller))).toBeUndefined();
  });

  it('go with the token that made them, as do their browsers and what those let in', async () => {
    const { access, store } = await world();
    const caller = await someone(access);
    const other = await someone(access);
    const { unused, first, second } = await chainFrom(access, caller);

    await access.revokeToken(caller.token, admin);

    for (const { text } of [first, second]) expect(kindOf(() => browserOf(access, text))).toBe('unauthenticated');
    await expect(access.exchangeLogin(unused.code, 'x')).rejects.toMatchObject({ kind: 'unauthenticated' });
    expect([...store.view.tokens.all()].map(({ id }) => id)).toEqual([other.token]);
  });

  it('and their browsers end with the token that made them, however often one follows the other', async () => {
    const { access, clock } = await world();
    const endsAt = clock.now() + 60_000;
    const caller = await someone(access, endsAt);
    const { unused, first, second } = await chainFrom(access, caller);

    await clock.advance(60_000);

    expect([unused.expiresAt, first.token.expiresAt, second.token.expiresAt]).toEqual([endsAt, endsAt, endsAt]);
    expect(kindOf(() => browserOf(access, second.text))).toBe('unauthenticated');
    await expect(access.exchangeLogin(unused.code, 'x')).rejects.toMatchObject({ kind: 'unauthenticated' });
  });
});

describe('the door for agents', () => {
  it('opens to a launch token, and says of which launch', async () => {
    const { access } = await world();

    expect(knock(access, pool('token'), { token: access.launchToken('01abc') })).toEqual({ launch: '01abc' });
  });

  it('opens to a join token of this pool until it is revoked', async () => {
    const { access } = await world();
    const own = await access.createToken({ name: 'j', use: { join: 'p1' } }, admin);
    const foreign = await access.createToken({ name: 'j', use: { join: 'p2' } }, admin);
    const api = await access.createToken({ name: 'a', use: { role: 'admin' } }, admin);

    const first = knock(access, pool('token'), { token: own.text });
    const others = [foreign.text, api.text, 'mlt_01abc_forged', 'x'].map((token) =>
      kindOf(() => knock(access, pool('token'), { token })),
    );
    await access.revokeToken(own.token.id, admin);

    expect(first).toEqual({});
    expect(others).toEqual(['denied', 'denied', 'denied', 'denied']);
    expect(kindOf(() => knock(access, pool('token'), { token: own.text }))).toBe('denied');
  });

  it('asks for what the pool asks for, and for nothing else', async () => {
    const { access } = await world();
    const proof = { token: access.launchToken('01abc'), certificateName: 'gpu', peerAddress: '10.0.0.7' };

    expect(kindOf(() => knock(access, pool('token'), { ...proof, token: undefined }))).toBe('unauthenticated');
    expect(kindOf(() => knock(access, pool('mtls'), { ...proof, certificateName: undefined }))).toBe('unauthenticated');
    expect(kindOf(() => knock(access, pool('network', ['192.168.0.0/16']), proof))).toBe('denied');
    expect(kindOf(() => knock(access, pool('network'), proof))).toBe('denied');
  });

  it('opens to a certificate of the agent or of its pool', async () => {
    const { access } = await world();

    expect(knock(access, pool('mtls'), { certificateName: 'gpu' })).toEqual({});
    expect(knock(access, pool('mtls'), { certificateName: 'm-gpu-1' })).toEqual({});
    expect(kindOf(() => knock(access, pool('mtls'), { certificateName: 'm-gpu-2' }))).toBe('denied');
  });

  it('stays shut to the certificate of another pool, also for an agent that calls itself like that one', async () => {
    const { access, store } = await world();
    const owner = { source: 'api', key: 'shared', version: '1' };
    await store.commit([put('pools', { ...pool('mtls'), id: 'p2', name: 'shared', owner })]);

    expect(kindOf(() => knock(access, pool('mtls'), { certificateName: 'shared' }, 'shared'))).toBe('denied');
  });

  it('opens to a network where the pool says so, with one warning a pool', async () => {
    const { access, lines, disk, clock } = await world();
    const open = pool('network', ['fd00::/8', '10.0.0.0/24']);

    const let1 = knock(access, open, {});
    knock(access, open, { peerAddress: '::ffff:10.0.0.8' }, 'm-gpu-2');
    await clock.settle();

    expect(let1).toEqual({});
    expect(lines).toMatchObject([{ level: 'warn', message: 'agent admitted without a token, by its network' }]);
    expect(disk.histories.events).toMatchObject([{ kind: 'pool.open', pool: 'p1' }]);
  });
});

describe('wrong credentials from one address', () => {
  const tries = (act: () => unknown): (string | undefined)[] => Array.from({ length: 21 }, () => kindOf(act));

  it('are throttled, whether tokens of callers or of agents, while good ones are not', async () => {
    const { access, clock } = await world();
    const { text } = await access.createToken({ name: 'ci', use: { role: 'viewer' } }, admin);
    const wrong = () => access.authenticate({ authorization: 'Bearer nonsense', from: '10.0.0.7' });

    expect(tries(wrong).slice(-2)).toEqual(['unauthenticated', 'throttled']);
    expect(kindOf(() => knock(access, pool('token'), { token: 'mlt_forged' }))).toBe('throttled');
    expect(kindOf(() => access.authenticate({ authorization: `Bearer ${text}`, from: '10.0.0.7' }))).toBeUndefined();
    expect(kindOf(() => access.authenticate({ authorization: 'Bearer x', from: '10.0.0.8' }))).toBe('unauthenticated');
    await clock.advance(60_000);
    expect(kindOf(wrong)).toBe('unauthenticated');
  });

  it('are throttled, if they are codes of login links', async () => {
    const { access } = await world();
    const faults: string[] = [];
    for (let at = 0; at < 21; at++)
      await access.exchangeLogin(`guess-${at}`, '10.0.0.7').catch((thrown) => faults.push(Fault.from(thrown).kind));

    expect(faults.slice(-2)).toEqual(['unauthenticated', 'throttled']);
  });

  it('do not count where none were given', async () => {
    const { access } = await world();

    expect(tries(() => access.authenticate({ from: '10.0.0.7' })).at(-1)).toBe('unauthenticated');
  });
});

describe('an agent that has not named its pool yet', () => {
  it('is known by a launch token, a join token, a certificate or an admitted network', async () => {
    const { access, store } = await world();
    const open = pool('network', ['10.9.0.0/16']);
    await store.commit([
      put('pools', { ...open, owner: { source: 's', key: 'k', version: '1' }, spec: { ...open.spec, offers: [] } }),
    ]);
    const { text } = await access.createToken({ name: 'j', use: { join: 'p1' } }, admin);
    const from = { peerAddress: '10.0.0.7' };
    const proofs: JoinProof[] = [
      { ...from, token: access.launchToken('01abc') },
      { ...from, token: text },
      { ...from, certificateName: 'gpu' },
      { peerAddress: '10.9.1.2' },
      { ...from, token: 'mlt_forged' },
      from,
    ];

    expect(proofs.map(access.knows)).toEqual([true, true, true, true, false, false]);
  });
});
