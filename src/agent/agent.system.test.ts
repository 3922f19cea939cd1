// The agent's connection against a real broker, over real sockets.
import { createPrivateKey } from 'node:crypto';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, expect, test } from 'vitest';
import type { AgentConfig } from '#config/agent-file.ts';
import type { AgentCommand, AgentReport } from '#core/agent-link.ts';
import { Fault } from '#core/fault.ts';
import { systemRandom } from '#core/random.ts';
import { untilHolds } from '#core/testing/until.ts';
import { makeCertificate, newKey } from '../access/certificate.ts';
import { type FakePlane, type FakePlaneOptions, openFakePlane } from '../broker/testing.ts';
import type { AgentEnd } from './agent.ts';
import type { OpenExecution } from './execution.ts';
import { runAgent } from './main.ts';

const open: { close(): unknown }[] = [];
afterEach(async () => {
  for (const one of open.splice(0).reverse()) await one.close();
});

async function aPlane(options: FakePlaneOptions = {}): Promise<FakePlane> {
  const plane = await openFakePlane(options);
  open.push(plane);
  return plane;
}

/** An address at which nothing listens. */
async function aDeadPort(): Promise<number> {
  const plane = await openFakePlane();
  await plane.close();
  return plane.port;
}

/** Sessions that begin and end when the test says so. */
function anExecution() {
  const handled: AgentCommand[] = [];
  const unacknowledged: AgentReport[] = [];
  let send: (report: AgentReport) => void = () => {};
  const report = (said: AgentReport): void => {
    unacknowledged.push(said);
    send(said);
  };
  const openExecution: OpenExecution = async (options) => {
    send = options.report;
    return {
      handle(command) {
        handled.push(command);
        if (command.do === 'ack' && command.result) unacknowledged.splice(0);
      },
      executions: () => unacknowledged.slice(0, 1).map(({ session, attempt }) => ({ session, attempt })),
      replay() {
        for (const said of unacknowledged) send(said);
      },
      running: 0,
      close() {},
      drain: async () => {},
    };
  };
  return { openExecution, handled, report, unacknowledged };
}

function anAgent(
  plane: Pick<FakePlane, 'port'>,
  more: Partial<AgentConfig> = {},
  troubled: (error: unknown) => void = () => {},
) {
  const workDir = mkdtempSync(join(tmpdir(), 'muster-agent-'));
  const execution = anExecution();
  let stop = (): void => {};
  const config: AgentConfig = {
    broker: { address: `http://127.0.0.1:${plane.port}` },
    pool: 'local',
    name: 'a1',
    slots: 2,
    workDir,
    joinToken: 'tok',
    labels: { zone: 'a' },
    ...more,
  };
  const ended = runAgent({
    config,
    version: '1.2.3',
    openExecution: execution.openExecution,
    log: (_, message, fields) => message === 'not connected' && troubled(fields?.error),
    onStopSignal(heard) {
      stop = heard;
      return () => {};
    },
  });
  let isOver = false;
  const over = ended.finally(() => {
    isOver = true;
  });
  over.catch(() => {});
  open.push({
    async close() {
      if (!isOver) stop();
      await over.catch(() => {});
      rmSync(workDir, { recursive: true, force: true });
    },
  });
  return { ...execution, workDir, ended: ended as Promise<AgentEnd>, stop: () => stop() };
}

const output = (seq: number, size = 10): AgentReport => {
  return { is: 'output', session: 's1', attempt: 1, seq, stream: 'stdout', data: new Uint8Array(size).fill(seq) };
};

test('it joins with its token and a key of its own, and takes commands', async () => {
  const plane = await aPlane();
  const agent = anAgent(plane);
  await untilHolds(() => expect(plane.joined).toHaveLength(1));

  plane.link.send('a1', { do: 'resize', session: 's1', columns: 80, rows: 24 });
  await untilHolds(() => expect(agent.handled).toHaveLength(1));

  const { hello, proof } = plane.hellos[0] as FakePlane['hellos'][number];
  expect(hello).toMatchObject({
    name: 'a1',
    pool: 'local',
    slots: 2,
    labels: { zone: 'a' },
    wire: 'muster',
    version: '1.2.3',
  });
  expect(proof).toMatchObject({ token: 'tok', key: readFileSync(join(agent.workDir, 'agent.key'), 'utf8').trim() });
  expect(agent.handled).toEqual([{ do: 'resize', session: 's1', columns: 80, rows: 24 }]);
});

test('one whose port for probes is taken by another process joins all the same', async () => {
  const plane = await aPlane();
  const agent = anAgent(plane, { serve: plane.port });
  agent.ended.catch(() => {});

  await untilHolds(() => expect(plane.joined).toHaveLength(1));
});

test('with several addresses it joins where one answers, and goes on at the next when that one dies', async () => {
  const first = await openFakePlane();
  const second = await aPlane();
  const [dead, one, two] = [await aDeadPort(), first.port, second.port].map((port) => `http://127.0.0.1:${port}`);
  const agent = anAgent(first, { broker: { address: dead, otherAddresses: [one, two] as string[] } });
  await untilHolds(() => expect(first.joined).toHaveLength(1));
  expect(second.joined).toHaveLength(0);

  agent.report(output(1));
  await untilHolds(() => expect(first.reports).toHaveLength(1));
  await first.close();
  await untilHolds(() => expect(second.joined).toHaveLength(1));

  await untilHolds(() => expect(second.reports.map(({ report }) => report)).toMatchObject([{ is: 'output', seq: 1 }]));
  expect(second.hellos[0]?.hello.executions).toEqual([{ session: 's1', attempt: 1 }]);
});

test('ten megabytes of output arrive whole and in order', async () => {
  const plane = await aPlane();
  const agent = anAgent(plane);
  await untilHolds(() => expect(plane.joined).toHaveLength(1));

  for (let seq = 1; seq <= 160; seq++) agent.report(output(seq, 64 * 1024));
  await untilHolds(() => expect(plane.reports).toHaveLength(160));
  plane.link.send('a1', { do: 'ack', session: 's1', attempt: 1, seq: 160, result: true });

  const arrived = plane.reports.flatMap(({ report }) => (report.is === 'output' ? [report] : []));
  expect(arrived.map(({ seq }) => seq)).toEqual(Array.from({ length: 160 }, (_, at) => at + 1));
  expect(arrived.every(({ seq, data }) => data.length === 64 * 1024 && data.every((byte) => byte === seq))).toBe(true);
  await untilHolds(() => expect(agent.unacknowledged).toEqual([]));
});

test('what was not acknowledged comes again, first of all, after the broker was away', async () => {
  const first = await openFakePlane();
  const agent = anAgent(first);
  await untilHolds(() => expect(first.joined).toHaveLength(1));
  const { port } = first;
  await first.close();
  agent.report(output(1));
  agent.report({ is: 'ended', session: 's1', attempt: 1, lastSeq: 1, how: 'exited', exitCode: 5 });

  const second = await aPlane({ port });
  await untilHolds(() => expect(second.reports).toHaveLength(2));
  second.link.send('a1', { do: 'ack', session: 's1', attempt: 1, seq: 1, result: true });
  await untilHolds(() => expect(agent.unacknowledged).toEqual([]));

  expect(second.joined[0]?.executions).toEqual([{ session: 's1', attempt: 1 }]);
  expect(second.reports.map(({ report }) => report.is)).toEqual(['output', 'ended']);
});

test('asked to stop it joins once more without room, then leaves for good', async () => {
  const plane = await aPlane();
  const agent = anAgent(plane);
  await untilHolds(() => expect(plane.joined).toHaveLength(1));
  plane.link.send('a1', { do: 'resize', session: 's1', columns: 80, rows: 24 });
  await untilHolds(() => expect(agent.handled).toHaveLength(1));

  agent.stop();

  expect(await agent.ended).toEqual({ exitCode: 0, message: 'Stopped on request.' });
  expect(plane.hellos.map(({ hello }) => hello.slots)).toEqual([2, 0]);
  await untilHolds(() => expect(plane.left.map(({ epoch }) => epoch).sort()).toEqual([1, 2]));
});

test('refused, it goes on trying until it is stopped', async () => {
  const plane = await aPlane({
    door: () => {
      throw new Fault('denied', 'No.');
    },
  });
  const agent = anAgent(plane);
  await untilHolds(() => expect(plane.hellos).toHaveLength(1));

  agent.stop();

  expect(await agent.ended).toMatchObject({ exitCode: 0 });
});

const caKey = newKey();
const signer = { name: 'CA', key: createPrivateKey(caKey) };
function certificate(
  name: string,
  use: 'authority' | 'server' | 'client',
  key: string,
  addresses: string[] = [],
): string {
  const span = { fromMs: Date.UTC(2020, 0), untilMs: Date.UTC(2090, 0) };
  return makeCertificate(
    { name, use, addresses, ...span, serial: systemRandom.bytes(16) },
    createPrivateKey(key),
    signer,
  );
}
const ca = certificate('CA', 'authority', caKey);

/** Its certificate is for these addresses. */
async function aSecuredPlane(...addresses: string[]): Promise<FakePlane> {
  const key = newKey();
  const cert = certificate('broker', 'server', key, addresses);
  return aPlane({ tls: { key, certificate: cert, clientCa: ca } });
}

test('over TLS it trusts the given authority alone, and shows its own certificate', async () => {
  const plane = await aSecuredPlane('127.0.0.1');
  const folder = mkdtempSync(join(tmpdir(), 'muster-agent-'));
  open.push({ close: () => rmSync(folder, { recursive: true }) });
  const mtls = { cert: join(folder, 'cert.pem'), key: join(folder, 'key.pem') };
  const key = newKey();
  writeFileSync(mtls.key, key);
  writeFileSync(mtls.cert, certificate('m-1', 'client', key));
  const address = `https://127.0.0.1:${plane.port}`;

  const trouble: unknown[] = [];
  anAgent(plane, { name: 'a1', broker: { address, ca }, mtls });
  anAgent(plane, { name: 'a2', broker: { address } }, (error) => trouble.push(error));
  await untilHolds(() => expect(plane.joined).toHaveLength(1));
  // It tries again, and may have done so many times by now.
  await untilHolds(() => expect(trouble).not.toEqual([]));

  expect(plane.hellos.map(({ hello, proof }) => [hello.name, proof.certificateName])).toEqual([['a1', 'm-1']]);
});

test.each([
  ['127.0.0.1', 'localhost'],
  ['localhost', '127.0.0.1'],
])('a broker whose certificate is for %s is not taken for %s', async (certified, asked) => {
  const plane = await aSecuredPlane(certified);
  const trouble: unknown[] = [];

  anAgent(plane, { broker: { address: `${asked}:${plane.port}`, ca } }, (error) => trouble.push(error));
  await untilHolds(() => expect(trouble[0]).toContain('altnames'));

  expect(plane.hellos).toEqual([]);
});

test.each([
  [{ broker: {} }, 'broker.address'],
  [{ pool: undefined }, 'pool'],
  [{ broker: { address: 'http://x', ca: 'PEM' } }, 'broker.address'],
])('a configuration that lacks something is refused at once: %#', async (more, at) => {
  await expect(anAgent({ port: 1 }, more).ended).rejects.toMatchObject({ kind: 'invalid', at });
});
