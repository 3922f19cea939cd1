import { readFile } from 'node:fs/promises';
import { hostname, networkInterfaces } from 'node:os';
import type { AgentConfig } from '#config/agent-file.ts';
import { type Clock, systemClock } from '#core/clock.ts';
import { Fault } from '#core/fault.ts';
import type { Log } from '#core/log.ts';
import { type Random, systemRandom } from '#core/random.ts';
import { type BrokerAddress, parseBrokerAddress } from './address.ts';
import { type AgentEnd, startAgent } from './agent.ts';
import { type Line, openLine, type Trust } from './dial.ts';
import type { OpenExecution } from './execution.ts';
import { agentName, ownAddress, ownKey } from './identity.ts';
import { watchNotices } from './notices.ts';

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
  /** Where the metadata of this machine is, if not where its cloud has it. */
  readonly metadata?: string | undefined;
}

const EC2_METADATA = 'http://169.254.169.254';

function required(value: string | undefined, at: string, remedy: string): string {
  if (value) return value;
  throw new Fault('invalid', `The agent's configuration has no ${at}.`, { at, remedy });
}

async function readPem(path: string): Promise<string> {
  try {
    return await readFile(path, 'utf8');
  } catch (thrown) {
    const remedy = 'See that the file exists and that the agent may read it.';
    throw new Fault('unauthenticated', `${path} cannot be read.`, { cause: thrown, at: path, remedy });
  }
}

/** Certificates are read for each connection, so that a renewed one is taken up. */
async function dial(address: BrokerAddress, { broker, mtls }: AgentConfig): Promise<Line> {
  const pair = mtls && { cert: await readPem(mtls.cert), key: await readPem(mtls.key) };
  const trust: Trust = { ca: broker.ca, pair };
  return openLine(address, trust);
}

/** Runs the agent of this machine until it is stopped, sent away, or cut off for too long. */
export async function runAgent(options: RunAgentOptions): Promise<AgentEnd> {
  const { config, clock = systemClock, random = systemRandom, log } = options;
  const where = required(config.broker.address, 'broker.address', 'Write where the server is: https://host:50051.');
  const pool = required(config.pool, 'pool', 'Name it with --pool, or in the file.');
  const address = parseBrokerAddress(where, config.broker.ca !== undefined);
  const { workDir, slots, labels, joinToken, leaseMs } = config;
  const name = agentName({ configured: config.name, given: options.givenName, hostname: hostname() }, random);
  log('info', 'agent starts', { agent: name, pool, slots, server: where, version: options.version });
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
    openLine: () => dial(address, config),
    ...(config.notices === 'aws' && {
      watchNotices: (heard) => watchNotices({ endpoint: options.metadata ?? EC2_METADATA, clock, fetch, log }, heard),
    }),
    clock,
    random,
    log,
  });
  const unhear = options.onStopSignal(() => agent.stop());
  const end = await agent.ended;
  unhear();
  log('info', 'agent ends', { message: end.message });
  return end;
}
