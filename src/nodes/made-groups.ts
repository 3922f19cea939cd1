// Groups that an object lets Muster make: made at size 0 where they are missing, dropped while they are empty. Only a group
// that its cloud shows as made for this very object is ever dropped.
import type { OpenKinds } from '#clouds/open-kinds.ts';
import { type Clock, MINUTE_MS } from '#core/clock.ts';
import { Fault, isUnclear } from '#core/fault.ts';
import type { Log } from '#core/log.ts';
import type { NodeGroupRow } from '#core/node.ts';
import type { NodeGroup, NodeGroupState, NodeGroups } from '#core/node-group.ts';
import { drop, put, type Store } from '#core/store.ts';
import type { Journal } from '#journal/journal.ts';
import { chosenAccount, type FoundGroup, type MissingGroup, type Obstacle } from './group-finder.ts';
import { nextBackoff } from './growth.ts';
import type { Policy } from './policy.ts';
import { nodePoolSubject } from './reasons.ts';
import { accountName, type NodesSettings } from './section.ts';
import type { SeenGroup } from './survey.ts';

export interface MadeGroupsDeps {
  readonly store: Store;
  readonly clock: Clock;
  readonly log: Log;
  readonly journal: Journal;
  readonly hosts: OpenKinds<NodeGroups>;
  readonly settings: NodesSettings;
  /** From now on the groups of that object are looked for anew. */
  forgetFound(name: string): void;
}

export interface MadeGroups {
  /** Makes these groups of an object; answers why one of them cannot be made. */
  make(name: string, missing: readonly MissingGroup[], signal: AbortSignal): Promise<Obstacle | undefined>;
  /** Makes groups again that were dropped and are to grow; one that cannot be made backs off. */
  makeAgain(name: string, absent: readonly FoundGroup[], signal: AbortSignal): Promise<void>;
  /** Drops those that have been empty for as long as an empty node is kept; answers whether there was one. */
  dropEmpty(name: string, seen: SeenGroups, signal: AbortSignal): Promise<boolean>;
  /** Drops those that were made for an object that is gone, and that are empty. */
  dropAll(name: string, signal: AbortSignal): Promise<void>;
}

export interface SeenGroups {
  readonly policy: Policy;
  readonly found: readonly FoundGroup[];
  readonly groups: readonly SeenGroup[];
}

// A pool of GKE without nodes takes a minute or two.
const MAKE_MS = 4 * MINUTE_MS;

/** A group that was dropped: nothing is in it, and its next node will be like the last. */
export function absentGroup(id: string, name: string, template: NodeGroupState['template']): NodeGroup {
  const refuse = async (): Promise<never> => {
    throw new Fault('conflict', `The group ${name} was dropped and is not made again yet.`);
  };
  const state: NodeGroupState = { wanted: 0, template, instances: [], requests: [] };
  return { id, name, describe: async () => state, grow: refuse, cancel: refuse, remove: refuse };
}

const isEmpty = ({ state, row }: SeenGroup): boolean =>
  state.instances.length + state.requests.length === 0 && !row?.asked.some(({ isAnswered }) => !isAnswered);

export function openMadeGroups(deps: MadeGroupsDeps): MadeGroups {
  const { store, clock, log, journal, hosts, settings, forgetFound } = deps;
  /** By group, since when it has been empty. */
  const emptySince = new Map<string, number>();

  const tell = (name: string, kind: string, message: string) =>
    journal.event({ kind, subject: nodePoolSubject(name), message });

  const rowsOf = (name: string): readonly NodeGroupRow[] => [...store.view.nodeGroups.by('provisioner', name)];

  /** Keeps in mind that the group was made, and forgets what it was before it was dropped. */
  async function remember(name: string, { policy, account, group }: FoundGroup, message?: string): Promise<void> {
    const made = {
      account: accountName(account),
      template: policy.template ?? '',
      dropWhenEmpty: policy.dropWhenEmpty,
      isDropped: false,
    };
    const { id } = group;
    const row = store.view.nodeGroups.get(id) ?? { id, name: policy.name, provisioner: name, asked: [] };
    if (JSON.stringify(row.made) === JSON.stringify(made)) return;
    const former = rowsOf(name).filter((one) => one.made && one.name === policy.name && one.id !== id);
    await store.commit([
      ...former.map((one) => drop('nodeGroups', one.id)),
      put('nodeGroups', { ...row, made }),
      ...(message === undefined ? [] : [tell(name, 'node-group.made', message)]),
    ]);
  }

  async function makeOne(name: string, { policy, account }: MissingGroup, signal: AbortSignal): Promise<void> {
    const template = policy.template ?? '';
    const by = { name: 'create group', is: 'write', owner: name, signal, timeoutMs: MAKE_MS } as const;
    const group = await hosts.call(chosenAccount(account), by, (it, ending) => {
      if (it.create) return it.create({ name: policy.name, template, provisioner: name }, ending);
      const remedy = 'Give the account templates in the file of the server, or make the group yourself.';
      throw new Fault('unsupported', `The account ${accountName(account)} makes no groups.`, { remedy });
    });
    const message = `Made the group ${policy.name} from the template ${template}.`;
    log('info', 'node group made', { provisioner: name, group: policy.name });
    await remember(name, { policy, account, group }, message);
  }

  /** Where the group cannot be made: why. What is unclear is thrown: the same call is repeated, and makes none twice. */
  async function tryMake(name: string, missing: MissingGroup, signal: AbortSignal): Promise<Fault | undefined> {
    try {
      await makeOne(name, missing, signal);
      return undefined;
    } catch (thrown) {
      const fault = Fault.from(thrown);
      if (fault.kind !== 'conflict' && (isUnclear(fault.kind) || fault.kind === 'throttled')) throw fault;
      return fault;
    }
  }

  const dropIn = (name: string, account: NodesSettings['accounts'][number], group: string, signal: AbortSignal) => {
    const by = { name: 'drop group', is: 'write', owner: name, signal, timeoutMs: MAKE_MS } as const;
    return hosts.call(chosenAccount(account), by, async (it, ending) => it.drop?.(group, ending));
  };

  /** What the next node of the group will be is kept, so that it is made again only when it must grow. */
  async function dropOne(name: string, seen: SeenGroup, signal: AbortSignal): Promise<void> {
    const { row, policy, account, state } = seen;
    if (!row?.made) return;
    const made = { ...row.made, isDropped: true };
    await store.commit([put('nodeGroups', { ...row, asked: [], template: state.template, made })]);
    forgetFound(name);
    await dropIn(name, account, policy.name, signal);
    emptySince.delete(seen.id);
    log('info', 'node group dropped', { provisioner: name, group: policy.name });
    await store.commit([tell(name, 'node-group.dropped', `Dropped the group ${policy.name}, which was empty.`)]);
  }

  /** Whether the object lets it go now. */
  function isOver({ id, policy, ...seen }: SeenGroup, { scaleDownDelayMs }: Policy, found: readonly FoundGroup[]) {
    const there = found.find(({ group }) => group.id === id);
    if (there?.isAbsent || !policy.dropWhenEmpty || policy.minSize > 0 || !isEmpty({ id, policy, ...seen })) {
      emptySince.delete(id);
      return false;
    }
    const since = emptySince.get(id) ?? clock.now();
    emptySince.set(id, since);
    return clock.now() - since >= scaleDownDelayMs;
  }

  return {
    async make(name, missing, signal) {
      for (const one of missing) {
        const fault = await tryMake(name, one, signal);
        if (!fault) continue;
        const message = `The group ${one.policy.name} cannot be made: ${fault.message} ${fault.remedy}`;
        return { reason: fault.kind === 'denied' ? 'RightMissing' : 'GroupNotMade', message };
      }
      return undefined;
    },
    async makeAgain(name, absent, signal) {
      forgetFound(name);
      for (const { policy, account, group } of absent) {
        const fault = await tryMake(name, { policy, account }, signal);
        const row = store.view.nodeGroups.get(group.id);
        if (!fault || !row) continue;
        log('warn', 'node group cannot be made', { provisioner: name, group: policy.name, error: fault.message });
        const backoff = nextBackoff(row.backoff, fault.message, clock.now());
        await store.commit([put('nodeGroups', { ...row, backoff })]);
      }
    },
    async dropEmpty(name, { policy, found, groups }, signal) {
      const isOurs = ({ group, policy: own, isAbsent }: FoundGroup): boolean =>
        own.create && !isAbsent && group.madeFor === name;
      const ours = found.filter(isOurs);
      // A server that ended right after it had made one did not come to keep that in mind.
      for (const one of ours) await remember(name, one);
      const doomed = groups
        .filter(({ id }) => ours.some(({ group }) => group.id === id))
        .filter((group) => isOver(group, policy, found));
      for (const { id, ...seen } of doomed)
        await dropOne(name, { ...seen, id, row: store.view.nodeGroups.get(id) }, signal);
      return doomed.length > 0;
    },
    async dropAll(name, signal) {
      for (const { id, name: group, made } of rowsOf(name)) {
        emptySince.delete(id);
        const account = settings.accounts.find((one) => accountName(one) === made?.account);
        if (!made?.dropWhenEmpty || made.isDropped || !account) continue;
        await dropIn(name, account, group, signal).catch((thrown) => {
          const fault = Fault.from(thrown);
          // It has machines, or is not ours: it stays.
          if (fault.kind !== 'conflict') throw fault;
          log('info', 'node group stays', { provisioner: name, group, why: fault.message });
        });
      }
    },
  };
}
