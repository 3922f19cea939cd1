import { agentFile } from 'muster/src/boot/agent-file.ts';
import { bootScript, WORK_DIR } from 'muster/src/boot/script.ts';
import { Fault } from 'muster/src/core/fault.ts';
import type { Backend, Context, Launch, Machine, Mark, Outcome } from 'muster/src/core/provider.ts';
import type { MachineConfig } from './config.ts';
import { depotAt, everyPage, kindOf } from './depot-api.ts';

/** A machine as the depot shows it. */
interface Lent {
  readonly name: string;
  /** The mark, as it was sent. */
  readonly labels: Mark;
  readonly lentAtMs: number;
  readonly state: 'booting' | 'up' | 'leaving' | 'broken';
  /** Why it will never be up. */
  readonly reason?: string;
}

const STATES = { booting: 'creating', up: 'running', leaving: 'deleting', broken: 'failed' } as const;

function asMachine({ name, labels, lentAtMs, state, reason }: Lent): Machine {
  const machine = { name, mark: labels, createdAt: lentAtMs, state: STATES[state] };
  if (reason === undefined) return machine;
  return { ...machine, trouble: { kind: kindOf(reason), message: `The depot says: ${reason}.`, final: true } };
}

export async function openBackend(config: MachineConfig, context: Context): Promise<Backend> {
  const { cluster } = context;
  const ask = depotAt(config, context);
  const pathOf = (name: string): string => `/machines/${encodeURIComponent(name)}`;

  /** The depot makes a name once, so that repeating a launch is safe. */
  async function lend({ mark, boot }: Launch, name: string, signal: AbortSignal): Promise<Outcome> {
    const file = agentFile(boot, { name, workDir: WORK_DIR });
    const script = bootScript({ naming: { name }, agentFile: file, install: boot.install });
    const body = { size: config.size, labels: mark, boot: script };
    try {
      await ask({ method: 'PUT', path: pathOf(name), body, signal });
      return { name };
    } catch (thrown) {
      const fault = Fault.from(thrown);
      if (fault.kind === 'unavailable') throw fault;
      return { name, fault };
    }
  }

  /** A name that got no answer is left out: it may have been made, so the caller looks in the listing first. */
  async function lendAll(launch: Launch, signal: AbortSignal): Promise<Outcome[]> {
    const settled = await Promise.allSettled(launch.names.map((name) => lend(launch, name, signal)));
    const outcomes = settled.flatMap((one) => (one.status === 'fulfilled' ? [one.value] : []));
    const unanswered = settled.find((one) => one.status === 'rejected');
    if (outcomes.length === 0 && unanswered) throw unanswered.reason;
    return outcomes;
  }

  /** Only what bears our mark in the depot itself is given back, whatever the caller shows. */
  async function giveBack(name: string, signal: AbortSignal): Promise<Outcome> {
    try {
      const { labels } = (await ask({ path: pathOf(name), signal })) as Lent;
      if (labels.cluster !== cluster) return { name, fault: new Fault('denied', `${name} is not ours.`) };
      await ask({ method: 'DELETE', path: pathOf(name), signal });
      return { name };
    } catch (thrown) {
      const fault = Fault.from(thrown);
      if (fault.kind === 'unavailable') throw fault;
      return fault.kind === 'missing' ? { name } : { name, fault };
    }
  }

  return {
    cloud: `depot:${config.url}`,
    async list(signal) {
      const lent = await everyPage<Lent>(ask, `/machines?cluster=${cluster}`, signal);
      return lent.map(asMachine);
    },
    create: lendAll,
    async delete(machines, signal) {
      const outcomes: Outcome[] = [];
      for (const { name } of machines) outcomes.push(await giveBack(name, signal));
      return outcomes;
    },
  };
}
