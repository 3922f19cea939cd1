import { readFile } from 'node:fs/promises';
import { hostname, networkInterfaces } from 'node:os';
import { resolve } from 'node:path';
import type { AgentConfig } from '#config/agent-file.ts';
import { type Clock, systemClock } from '#core/clock.ts';
import { Fault } from '#core/fault.ts';
import type { Log } from '#core/log.ts';
import { type Random, systemRandom } from '#core/random.ts';
import { type BrokerAddress, parseBrokerAddress } from './address.ts';
import { type AgentEnd, STOPPED, startAgent, timeIsOver } from './agent.ts';
import { type BrokerTrust, type Line, type LineOptions, openLine } from './dial.ts';
import { type EndTime, openEndTime } from './end-time.ts';
import type { OpenExecution } from './execution.ts';
import { type HealthServer, serveHealth } from './health.ts';
import { agentName, ownAddress, ownKey } from './identity.ts';
import { notices } from './notices.gen.ts';

export interface RunAgentOptions {
  readonly config: AgentConfig;
  /** From the environment: the name that the machine was given. */
  readonly givenName?: string | undefined;
  readonly version: string;
  readonly openExecution: OpenExecution;
  readonly log: Log;
  /** Calls back for each SIGTERM or SIGINT; the returned function ends that. */
  onStopSignal(heard: () => void): () => void;
  readonly clock?: Clock;
  readonly random?: Random;
  /** Of the process, when the time in `endsAt` has come; 0 where absent. */
  readonly endCode?: number | undefined;
  /** A variable of the environment. */
  variable?(name: string): string | undefined;
}

function required(value: string | undefined, at: string, remedy: string): string {
  if (value) return value;
  throw new Fault('invalid', `The agent's configuration has no ${at}.`, { at, remedy });
}

async function readPem(path: string): Promise<string> {
  try {
    return await readFile(path, 'utf8');
  } catch (thrown) {
    const remedy = 'Check that the file exists and that the agent may read it.';
    throw new Fault('unauthenticated', `Cannot read ${path}.`, { cause: thrown, at: path, remedy });
  }
}

/** Valid addresses by their text, in order. An invalid one is ignored, unless it is the only one. */
function usableAddresses(
  written: readonly string[],
  { config, log }: RunAgentOptions,
): ReadonlyMap<string, BrokerAddress> {
  const usable = new Map<string, BrokerAddress>();
  const faults: Fault[] = [];
  for (const one of written) {
    try {
      usable.set(one, parseBrokerAddress(one, config.broker.ca !== undefined));
    } catch (thrown) {
      faults.push(Fault.from(thrown));
    }
  }
  if (usable.size === 0 && faults[0]) throw faults[0];
  for (const { message } of faults) log('warn', 'broker address ignored', { error: message });
  return usable;
}

/** Certificates are read for each connection, so that a renewed one is used. */
async function dial(address: BrokerAddress, { broker, mtls }: AgentConfig, how: LineOptions): Promise<Line> {
  const pair = mtls && { cert: await readPem(mtls.cert), key: await readPem(mtls.key) };
  const trust: BrokerTrust = { ca: broker.ca, pair };
  return openLine(address, trust, how);
}

/** Runs the agent of this machine until it is stopped, released by the server, disconnected for longer than the lease, or until its time is over. */
export async function runAgent(options: RunAgentOptions): Promise<AgentEnd> {
  const { config, clock = systemClock, random = systemRandom, log } = options;
  const name = agentName({ configured: config.name, given: options.givenName, hostname: hostname() }, random);
  // Sessions start in another folder than the agent, where a relative path would mean another place.
  const workDir = resolve(config.workDir);
  const endTime = await openEndTime({ workDir, agent: name, ofFile: config.endsAt, clock, log });
  const isAlone = config.broker.address === undefined && config.serve !== undefined;
  // An agent whose time is over ends, whoever has its port.
  const health = endTime.isOver ? undefined : await answerProbes(options, isAlone);
  try {
    const end = await (isAlone ? waitAlone : runJoined)(options, { name, workDir, endTime });
    log('info', 'agent ends', { why: end.message });
    return end;
  } finally {
    await health?.close();
  }
}

/** One that joins a server works without its port: several agents may share a machine, each with the same `serve`. */
async function answerProbes({ config, log }: RunAgentOptions, isAlone: boolean): Promise<HealthServer | undefined> {
  if (config.serve === undefined) return undefined;
  try {
    return await serveHealth(config.serve);
  } catch (thrown) {
    if (isAlone) throw thrown;
    const { message, remedy } = Fault.from(thrown);
    log('warn', 'probes are not answered', { error: message, remedy });
    return undefined;
  }
}

interface Prepared {
  readonly name: string;
  readonly workDir: string;
  readonly endTime: EndTime;
}

/** Without a server it takes no sessions: it answers probes until its end or a signal. */
async function waitAlone(options: RunAgentOptions, { name, endTime }: Prepared): Promise<AgentEnd> {
  const { config, log, onStopSignal, endCode = 0, version } = options;
  log('info', 'agent starts without a server', { agent: name, serve: config.serve, endsAt: endTime.at, version });
  const { promise, resolve } = Promise.withResolvers<AgentEnd>();
  const unhear = onStopSignal(() => resolve(STOPPED));
  endTime.watch(() => resolve(timeIsOver(endCode)));
  const end = await promise;
  unhear();
  await endTime.close();
  return end;
}

async function runJoined(options: RunAgentOptions, { name, workDir, endTime }: Prepared): Promise<AgentEnd> {
  const { config, clock = systemClock, random = systemRandom, log, endCode = 0 } = options;
  const where = required(
    config.broker.address,
    'broker.address',
    'Set the address of the server, like https://host:50051.',
  );
  const pool = required(config.pool, 'pool', 'Give --pool, or set `pool` in the file.');
  const addresses = usableAddresses([where, ...(config.broker.otherAddresses ?? [])], options);
  const { slots, labels, joinToken, leaseMs } = config;
  log('info', 'agent starts', {
    agent: name,
    pool,
    slots,
    server: [...addresses.keys()].join(', '),
    ...(endTime.at !== undefined && { endsAt: endTime.at }),
    version: options.version,
  });
  const watch = config.notices === undefined ? undefined : notices.get(config.notices);
  // A server of a later version may know more clouds than this agent.
  if (config.notices && !watch) log('warn', 'unknown cloud in notices', { notices: config.notices });
  const agent = await startAgent({
    self: {
      name,
      hostname: hostname(),
      address: ownAddress(networkInterfaces()),
      pool,
      slots,
      labels,
      version: options.version,
    },
    workDir,
    leaseMs,
    headers: async () => ({
      'x-muster-agent-key': await ownKey(workDir, random),
      ...(joinToken !== undefined && { authorization: `Bearer ${joinToken}` }),
    }),
    openExecution: options.openExecution,
    addresses: [...addresses.keys()],
    openLine: (written, how) => dial(addresses.get(written) as BrokerAddress, config, how),
    ...(watch && {
      watchNotices: (heard) => watch({ variable: options.variable ?? (() => undefined), clock, fetch, log }, heard),
    }),
    endTime,
    endCode,
    clock,
    random,
    log,
  });
  const unhear = options.onStopSignal(() => agent.stop());
  const end = await agent.ended;
  unhear();
  return end;
}
