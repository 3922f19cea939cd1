// Agents of all machines: the newest connection of each counts, and the use of its launch decides which feature admits it.
import { hash } from 'node:crypto';
import type { Hello, JoinProof } from '#core/agent-link.ts';
import { MINUTE_MS } from '#core/clock.ts';
import { Fault } from '#core/fault.ts';
import type { Agent, MachineRow } from '#core/machine.ts';
import { readMark } from '#core/mark.ts';
import type { Use } from '#core/provider.ts';
import { drop, put } from '#core/store.ts';
import type { Base, OwnedMachines } from './owned-machines.ts';
import { isOlderThanBackup } from './restored.ts';

/** A client that claims to be the agent of a machine. */
export interface JoiningAgent {
  readonly hello: Hello;
  readonly proof: JoinProof;
  /** The launch that its token was made for. */
  readonly launch: string | undefined;
}

export interface MachineAgents {
  /** Admits an agent, or throws a `Fault`; resolves when the join is durable. */
  join(hello: Hello, proof: JoinProof): Promise<Agent>;
  /** What the machine of that agent is for: the feature of that use admits it. */
  useOf(hello: Hello, proof: JoinProof): Use;
  /** The stream of that connection ended; an older one than the agent's newest changes nothing. */
  leave(name: string, epoch: number): void;
  /** All sessions that this agent runs and that the server does not know. */
  noteUnknown(agent: string, sessions: readonly string[]): void;
}

export function openAgents(base: Base, features: ReadonlyMap<Use, OwnedMachines>): MachineAgents {
  const { view } = base.store;
  let lastEpoch = 0;

  const launchOf = ({ token }: JoinProof): string | undefined =>
    token === undefined ? undefined : base.verifyLaunchToken(token);

  /** A launch that is over is known by the machines that are left of it. Without a launch the name decides. */
  function useOf({ name }: Hello, launch: string | undefined): Use {
    const record = launch === undefined ? undefined : view.launches.get(launch);
    if (record) return readMark(record.mark).use;
    const all = [...features.values()];
    const owned =
      all.find(({ launched }) => launch !== undefined && launched(launch)) ?? all.find(({ named }) => named(name));
    return owned?.use ?? 'worker';
  }

  function connect(owned: OwnedMachines, row: MachineRow, { hello, epoch }: { hello: Hello; epoch: number }): Agent {
    const before = view.agents.get(row.id);
    if (before && before.epoch > epoch)
      throw new Fault('conflict', `A newer connection of ${row.id} replaced this one.`);
    const { labels, changes } = owned.connected(row, hello);
    const { slots, wire, version, hostname, address } = hello;
    const agent: Agent = {
      ...{ id: row.id, use: owned.use, owner: owned.ownerOf(row), epoch },
      // 0 slots: the agent drains.
      slots: slots === 0 ? 0 : Math.max(1, Math.floor(slots) || 1),
      ...{ labels, wire, version, hostname, address, connectedAt: base.clock.now() },
      ...(hello.takesFiles && { takesFiles: true }),
      ...(hello.opensTunnels && { opensTunnels: true }),
      ...(hello.movesEnd && { movesEnd: true }),
    };
    base.commit([put('agents', agent), ...changes]);
    return agent;
  }

  return {
    useOf: (hello, proof) => useOf(hello, launchOf(proof)),
    async join(hello, proof) {
      const epoch = ++lastEpoch;
      const launch = launchOf(proof);
      const owned = features.get(useOf(hello, launch));
      if (!owned) throw refuseAgent(`${hello.name} has no machine on this server.`);
      const id = await owned.admit({ hello, proof, launch });
      const row = owned.get(id);
      if (!row) throw refuseAgent(`${id} is no longer needed.`);
      try {
        return connect(owned, row, { hello, epoch });
      } catch (thrown) {
        // It has joined, and is not here: its owner must see to that.
        owned.poke(owned.ownerOf(row));
        throw thrown;
      }
    },
    leave(name, epoch) {
      const agent = view.agents.get(name);
      if (agent?.epoch !== epoch) return;
      base.commit([drop('agents', name), ...(features.get(agent.use)?.disconnected(agent) ?? [])]);
    },
    noteUnknown(name, sessions) {
      const agent = view.agents.get(name);
      if (!agent || (sessions.length === 0 && !agent.unknown)) return;
      base.commit([put('agents', { ...agent, unknown: sessions.length > 0 ? sessions : undefined })]);
    },
  };
}

export const refuseAgent = (message: string): Fault =>
  new Fault('denied', message, { remedy: 'An agent joins once, under the name of its own machine.' });

/** What is stored of an agent's own key. */
export const credentialOf = ({ key }: JoinProof): string | undefined =>
  key === undefined ? undefined : hash('sha256', key, 'hex');

/** The key was bound when the launch token was checked. */
export function checkAgentKey({ id, credential }: MachineRow, shown: string | undefined): void {
  if (credential !== shown) throw refuseAgent(`${id} has already joined with another key.`);
}

/** A launch token is good for the names of its launch, each once, and binds the agent's own key. */
export function checkFirstJoin(name: string, row: MachineRow | undefined, credential: string | undefined): void {
  if (credential === undefined) throw refuseAgent(`${name} has a launch token, but no key of its own.`);
  // An adopted machine joined before the backup was made, so its key is not stored: it is bound now.
  const isUsedUp = row?.joinedAt !== undefined && row.launch !== undefined;
  if (isUsedUp) throw refuseAgent(`${name} has already used its launch token.`);
}

/** Admits an agent by the token of its launch, and from then on by its key. */
export async function admitByLaunch<R extends MachineRow>(
  owned: OwnedMachines<R>,
  joining: JoiningAgent,
): Promise<string> {
  const { hello, proof, launch } = joining;
  const row = owned.get(hello.name) ?? owned.named(hello.name);
  if (!row) throw notMadeFor(hello);
  checkStays(row);
  const credential = credentialOf(proof);
  if (row.credential !== undefined) checkAgentKey(row, credential);
  else if (launch === undefined || !isMadeFor(owned, row, launch)) throw notMadeFor(hello);
  else if (isTooLate(owned, row)) throw refuseAgent(`The launch token of ${row.id} has expired.`);
  else checkFirstJoin(hello.name, row, credential);
  const isNews = row.joinedAt === undefined || row.credential !== credential;
  const { store } = owned.base;
  await (isNews ? store.commit([owned.put(joinedRow(owned, row, credential))]) : store.durable());
  return row.id;
}

// Clouds show the boot data of a machine for as long as it lives, to all who may look into the account.
const LAUNCH_TOKEN_LASTS_MS = 15 * MINUTE_MS;

/** An adopted machine may join at any age: it did so before the backup was restored. */
const isTooLate = <R extends MachineRow>({ base }: OwnedMachines<R>, { launch, askedAt, createdAt = askedAt }: R) =>
  launch !== undefined && base.clock.now() - createdAt > LAUNCH_TOKEN_LASTS_MS;

/** A restored backup lacks the launch of a machine that was adopted: its token is ours, and of a launch that nobody knows. */
function isMadeFor<R extends MachineRow>({ base, launched }: OwnedMachines<R>, row: R, launch: string): boolean {
  if (row.launch !== undefined) return row.launch === launch;
  const { createdAt = Number.POSITIVE_INFINITY } = row;
  const isKnown = base.store.view.launches.get(launch) !== undefined || launched(launch) !== undefined;
  return isOlderThanBackup(base, { createdAt }) && !isKnown;
}

/** A machine that is to go, or to stop, gets no agent. */
export function checkStays({ id, removal, parked }: MachineRow): void {
  if (removal) throw refuseAgent(`${id} is being removed.`);
  // Its machine has not stopped yet, or was started outside Muster.
  if (parked)
    throw new Fault('unavailable', `${id} is parked.`, { remedy: 'The server wakes it when its owner needs it.' });
}

export const notMadeFor = ({ name }: Hello): Fault => refuseAgent(`This token was not made for ${name}.`);

/** The row of a machine whose agent has joined; it exists, whatever its cloud answers. */
export function joinedRow<R extends MachineRow>(owned: OwnedMachines<R>, row: R, credential: string | undefined): R {
  const now = owned.base.clock.now();
  const { createdAt = now, joinedAt = now } = row;
  return { ...row, createdAt, joinedAt, machineId: machineIdOf(owned, row), credential, isWaking: undefined };
}

/** Kept from the first join on, where names are used again; a machine that was woken may be another in its cloud. */
function machineIdOf<R extends MachineRow>({ base: { clouds } }: OwnedMachines<R>, row: R): string | undefined {
  const { machineId, isWaking, offer, machine } = row;
  if (machineId !== undefined && !isWaking) return machineId;
  return offer !== undefined && clouds.reusesNames(offer) ? clouds.machine(offer, machine)?.id : undefined;
}
