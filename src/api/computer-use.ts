// Who may use a computer and what runs there: its creator and admins. Every route to a session or a machine asks here.
import type {
  Computer,
  ComputerCaller,
  ComputerOwner,
  Computers,
  EndedComputer,
  ShownComputer,
} from '#core/computer.ts';
import { Fault } from '#core/fault.ts';
import { nearest } from '#core/nearest.ts';
import type { Session } from '#core/session.ts';
import type { Caller } from '../access/access.ts';
import type { ApiDeps } from './deps.ts';

type UseDeps = Pick<ApiDeps, 'features' | 'store' | 'redactText'>;

export function computersOf({ features }: Pick<ApiDeps, 'features'>): Computers {
  if (features.computers) return features.computers;
  throw new Fault('unsupported', 'This server has no computers.');
}

export const computerCaller = ({ who, from, token, role }: Caller): ComputerCaller => ({
  ...{ who, from, token },
  isAdmin: role === 'admin',
});

/** The computer of that name that ended last. */
export async function newestEnded({ store }: Pick<ApiDeps, 'store'>, name: string): Promise<EndedComputer | undefined> {
  await store.durable();
  const [ended] = await store.history.endedComputers({ name }, { limit: 1, order: 'newest first' });
  return ended;
}

/** Why there is none of that name: it has ended, or never was. */
export async function noComputer(deps: Pick<ApiDeps, 'store' | 'redactText'>, name: string): Promise<Fault> {
  const at = 'path.computer';
  const ended = await newestEnded(deps, name);
  if (ended) {
    const message = `Computer ${name} has ended at ${new Date(ended.endedAt).toISOString()}. ${deps.redactText(ended.why)}`;
    return new Fault('missing', message.trim(), {
      at,
      remedy: `See \`muster computer show ${name}\`, or create another one.`,
    });
  }
  const names = Array.from(deps.store.view.computers.all(), (computer) => computer.name);
  const meant = nearest(name, names);
  const remedy = meant === undefined ? 'List computers with `muster computer ls --all`.' : `Did you mean ${meant}?`;
  return new Fault('missing', `There is no computer ${name}.`, { at, remedy });
}

export async function findComputer(deps: UseDeps, name: string): Promise<ShownComputer> {
  const found = computersOf(deps).find(name);
  if (found) return found;
  throw await noComputer(deps, name);
}

/** The computer, if this caller may use it. */
export async function usableComputer(deps: UseDeps, name: string, caller: Caller): Promise<ShownComputer> {
  const found = await findComputer(deps, name);
  const refusal = computersOf(deps).refusesUse(found.computer, computerCaller(caller));
  if (refusal) throw refusal;
  return found;
}

async function ownerOf({ store }: UseDeps, { pool: id, poolName }: Session): Promise<ComputerOwner> {
  const live: Computer | undefined = store.view.computers.get(id);
  if (live) return live;
  await store.durable();
  const [ended] = await store.history.endedComputers({ computer: id }, { limit: 1, order: 'newest first' });
  // Nobody is known any more: then it is for admins alone.
  return ended ?? { name: poolName, by: 'somebody', token: '' };
}

/** Throws unless this caller may read, steer or end the session: that of a computer is for its creator and admins. */
export async function checkSessionUse(deps: UseDeps, session: Session, caller: Caller): Promise<void> {
  if (session.use !== 'computer' || caller.role === 'admin') return;
  const refusal = computersOf(deps).refusesUse(await ownerOf(deps, session), computerCaller(caller));
  if (refusal) throw refusal;
}

// An agent that lost its connection is back within seconds, also after a restart of the server.
const AWAY_SHORTLY_MS = 15_000;

/** Why nothing can be started or copied there now; `mayWait`: what comes back soon is waited for. */
export function whyNotReachable(
  { computer, status, awaySince, listed, why, isAgentHere }: ShownComputer,
  { now, mayWait }: { readonly now: number; readonly mayWait: boolean },
): Fault | undefined {
  const { name, removal, failure } = computer;
  if (removal)
    return new Fault('conflict', `Computer ${name} is being removed: ${removal.why}`, {
      remedy: `Wait until it is gone with \`muster computer rm ${name} --wait\`, then create another one.`,
    });
  if (failure)
    return new Fault('conflict', `Computer ${name} has failed. ${why ?? ''}`.trim(), {
      remedy: `Remove it with \`muster computer rm ${name}\`, and create another one.`,
    });
  if (isAgentHere) return undefined;
  if (status === 'starting') {
    if (mayWait) return undefined;
    return new Fault('conflict', `Computer ${name} does not run yet. ${why ?? ''}`.trim(), {
      remedy: `Wait for it with \`muster computer wait ${name}\`.`,
    });
  }
  if (awaySince === undefined || (mayWait && now - awaySince < AWAY_SHORTLY_MS)) return undefined;
  const state = listed === undefined ? 'The platform does not show its machine' : `Its machine is ${listed.state}`;
  return new Fault('conflict', `The agent of computer ${name} is away since ${new Date(awaySince).toISOString()}.`, {
    remedy: `${state}: see \`muster computer why ${name}\`, or remove it with \`muster computer rm ${name}\`.`,
  });
}

/** The machine of a computer whose agent is here, for copies and forwarded ports. */
export function machineOf(shown: ShownComputer, now: number): string {
  const fault = whyNotReachable(shown, { now, mayWait: false });
  if (fault) throw fault;
  return shown.machine?.id ?? '';
}
