// What to do next for a computer: pure, from its rows and what was seen of its machine.
import { type Computer, type ComputerMachine, computerStatus } from '#core/computer.ts';
import type { EndFault } from '#core/machine.ts';
import type { Machine, Trouble } from '#core/provider.ts';
import { sentences } from '#core/sentences.ts';

/** A machine of a computer, and what is known of it. */
export interface SeenMachine {
  readonly row: ComputerMachine;
  /** As its cloud shows it. */
  readonly listed: Machine | undefined;
  /** Its cloud no longer has it. */
  readonly isLost: boolean;
  /** Why it will never work. */
  readonly trouble: Trouble | undefined;
  /** Its agent has joined, or answers `/health` where there is no server to join. */
  readonly isHealthy: boolean;
}

export interface ComputerFacts {
  readonly computer: Computer;
  /** At most one that is not being removed. */
  readonly machines: readonly SeenMachine[];
  /** A launch whose outcome is not known. */
  readonly isLaunching: boolean;
  /** A restored backup may lack its machine, and the cloud has not been looked through yet. */
  readonly mayShowMore: boolean;
  /** Its cloud is being opened for the first time: the agent for its machines may not be packed yet. */
  readonly isOpening: boolean;
  readonly now: number;
}

/** One thing to do; several passes do several things. */
export type ComputerStep =
  | { readonly do: 'launch' }
  | { readonly do: 'run' }
  | {
      readonly do: 'remove machine';
      readonly machine: ComputerMachine;
      readonly why: string;
      readonly fault?: EndFault;
    }
  | { readonly do: 'take loss'; readonly machine: ComputerMachine }
  | { readonly do: 'refuse'; readonly machine: ComputerMachine; readonly fault: EndFault }
  | { readonly do: 'fail'; readonly fault: EndFault }
  | { readonly do: 'expire' }
  | { readonly do: 'forget' }
  | { readonly do: 'wait'; readonly until: number | undefined };

const inSeconds = (ms: number): string => `${Math.round(ms / 1_000)} s`;

/** The step that is due, or until when there is none. */
export function nextComputerStep(facts: ComputerFacts): ComputerStep {
  const { computer, machines, isLaunching, mayShowMore, isOpening, now } = facts;
  const current = machines.find(({ row }) => !row.removal);
  if (computer.removal || computer.failure) return tidy(facts, current);
  if (computer.endsAt !== undefined && computer.endsAt <= now) return { do: 'expire' };
  if (current) return watch(computer, current, now);
  // The one before must be gone for certain: there are never two.
  if (machines.length > 0 || isLaunching || mayShowMore || isOpening) return { do: 'wait', until: computer.endsAt };
  return launchAgain(computer, now);
}

/** Deletes what is left; the row of a failed computer stays, so that people can read why. */
function tidy(
  { computer, machines, isLaunching, mayShowMore, now }: ComputerFacts,
  current: SeenMachine | undefined,
): ComputerStep {
  const { removal, failure, endsAt } = computer;
  const why = removal?.why ?? failure?.message ?? '';
  if (current) return { do: 'remove machine', machine: current.row, why };
  if (machines.length > 0 || isLaunching || mayShowMore) return { do: 'wait', until: undefined };
  if (removal) return { do: 'forget' };
  if (endsAt !== undefined && endsAt <= now) return { do: 'expire' };
  return { do: 'wait', until: endsAt };
}

function launchAgain({ refusals, maxRetries, refused, endsAt }: Computer, now: number): ComputerStep {
  if (!refused) return { do: 'launch' };
  if (refusals >= maxRetries) {
    const { kind, message, remedy } = refused;
    const attempts = `${refusals} ${refusals === 1 ? 'attempt' : 'attempts'}`;
    return { do: 'fail', fault: { kind, message: `Failed after ${attempts}: ${message}`, ...(remedy && { remedy }) } };
  }
  if (refused.retryAt <= now) return { do: 'launch' };
  return { do: 'wait', until: Math.min(refused.retryAt, endsAt ?? refused.retryAt) };
}

function watch(
  computer: Computer,
  { row, listed, isLost, trouble, isHealthy }: SeenMachine,
  now: number,
): ComputerStep {
  if (isLost) return { do: 'take loss', machine: row };
  const wasRunning = computer.runningAt !== undefined;
  if (trouble) {
    const { kind, message } = trouble;
    // What never ran may come up at the next try; what ran is never replaced.
    if (!wasRunning) return { do: 'refuse', machine: row, fault: { kind, message } };
    return { do: 'fail', fault: { kind, message } };
  }
  const { endsAt } = computer;
  if (wasRunning) return { do: 'wait', until: endsAt };
  if (isHealthy && listed?.state === 'running') return { do: 'run' };
  const lateAt = row.askedAt + computer.timeoutMs;
  if (now < lateAt) return { do: 'wait', until: Math.min(lateAt, endsAt ?? lateAt) };
  const shown = listed?.trouble?.message ?? (listed ? `its machine is ${listed.state}` : 'its machine is not listed');
  const missing = isHealthy ? shown : `${shown}, and its agent has not joined`;
  return {
    do: 'fail',
    fault: { kind: 'unavailable', message: `Operation timed out after ${inSeconds(computer.timeoutMs)}: ${missing}` },
  };
}

/** What a computer waits for, or why it failed, for people. */
export function whyOf(computer: Computer, current: SeenMachine | undefined, now: number): string | undefined {
  const { removal, failure, refused, awaySince } = computer;
  if (removal) return `It is being removed: ${removal.why}`;
  if (failure) return failure.message;
  const status = computerStatus(computer, current?.listed);
  if (status === 'stopped') return 'Its machine was stopped outside Muster.';
  if (status === 'running')
    return awaySince === undefined ? undefined : `Its agent is away since ${new Date(awaySince).toISOString()}.`;
  if (!current && refused)
    return refused.retryAt > now
      ? sentences(`Refused: ${refused.message}`, `The next try is at ${new Date(refused.retryAt).toISOString()}.`)
      : `Refused: ${refused.message}`;
  if (!current || current.row.createdAt === undefined) return 'The platform is asked for its machine.';
  if (current.listed?.trouble) return current.listed.trouble.message;
  if (!current.listed) return 'The platform does not show its machine yet.';
  if (current.listed.state !== 'running') return `Its machine is ${current.listed.state}.`;
  return 'Its machine runs; its agent has not joined yet.';
}
