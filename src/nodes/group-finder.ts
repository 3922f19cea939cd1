// The instance groups that an object names: each in one account, permitted by the server's file, and of no other object.
import type { ChosenKind, OpenKinds } from '#clouds/open-kinds.ts';
import { type GroupRefusal, isGroupRefusal, type NodeGroup, type NodeGroups } from '#core/node-group.ts';
import type { GroupPolicy } from './policy.ts';
import { accountName, isPermitted, type NodeAccount } from './section.ts';
import type { ConditionReason } from './status-object.ts';

export interface FoundGroup {
  readonly policy: GroupPolicy;
  readonly account: NodeAccount;
  readonly group: NodeGroup;
  /** It was dropped, and is made again when it must grow. */
  readonly isAbsent?: true;
}

/** A group that is to be made, since the object says so. */
export type MissingGroup = Pick<FoundGroup, 'policy' | 'account'>;

export interface FoundGroups {
  /** In order of priority. */
  readonly groups: readonly FoundGroup[];
  readonly missing: readonly MissingGroup[];
}

/** Why an object is not served. */
export interface Obstacle {
  readonly reason: ConditionReason;
  readonly message: string;
}

export interface FinderDeps {
  readonly hosts: OpenKinds<NodeGroups>;
  readonly accounts: readonly NodeAccount[];
  /** The object that sizes the group of that id already, if it is another than `name`. */
  takenBy(group: string, name: string): string | undefined;
}

const chosenOf = ({ kind, config }: NodeAccount): ChosenKind => ({ kind, config });

const worded = ({ reason, message, remedy }: GroupRefusal): Obstacle => ({ reason, message: `${message} ${remedy}` });

type Answers = ReadonlyMap<NodeAccount, ReadonlyMap<string, NodeGroup | GroupRefusal>>;

/** Where a group is to be made that is nowhere. */
function toMake(policy: GroupPolicy, permitted: readonly NodeAccount[]): MissingGroup | Obstacle {
  const [account, second] = permitted;
  if (account && !second) return { policy, account };
  const where = permitted.map(accountName).join(' and ');
  const message = `The group ${policy.name} may be made in ${where}. Name its account in instanceGroups[].`;
  return { reason: 'GroupAmbiguous', message };
}

function chooseAccount(policy: GroupPolicy, answers: Answers): FoundGroup | MissingGroup | Obstacle {
  const { name, account: wanted } = policy;
  const asked = [...answers].filter(([account]) => wanted === undefined || accountName(account) === wanted);
  if (asked.length === 0) {
    const known = [...answers.keys()].map(accountName).join(', ') || 'none';
    const message = `No account of the server is named ${wanted ?? ''}; there are: ${known}. Add it under nodes.accounts.`;
    return { reason: 'NoAccount', message };
  }
  const permitted = asked.filter(([account]) => isPermitted(account, name));
  if (permitted.length === 0) {
    const message = `The server's file does not let objects size the group ${name}. Add it to nodes.accounts[].groups.`;
    return { reason: 'GroupNotPermitted', message };
  }
  return chooseAnswer(policy, permitted);
}

/** Of the accounts that may hold the group, the one that does. */
function chooseAnswer(
  policy: GroupPolicy,
  permitted: readonly (readonly [NodeAccount, ReadonlyMap<string, NodeGroup | GroupRefusal>])[],
): FoundGroup | MissingGroup | Obstacle {
  const { name, create } = policy;
  const refusals: GroupRefusal[] = [];
  const found: FoundGroup[] = [];
  for (const [account, groups] of permitted) {
    const answer = groups.get(name);
    if (!answer) continue;
    if (isGroupRefusal(answer)) refusals.push(answer);
    else found.push({ policy, account, group: answer });
  }
  const [only, second] = found;
  if (only && !second) return only;
  if (second) {
    const where = found.map(({ account }) => accountName(account)).join(' and ');
    const message = `The group ${name} is in ${where}. Name its account in instanceGroups[].`;
    return { reason: 'GroupAmbiguous', message };
  }
  const worst = refusals.find(({ reason }) => reason !== 'GroupNotFound');
  if (worst) return worded(worst);
  const accounts = permitted.map(([account]) => account);
  if (create) return toMake(policy, accounts);
  const [first] = refusals;
  return first ? worded(first) : { reason: 'GroupNotFound', message: `There is no group ${name}.` };
}

export const isObstacle = (found: FoundGroup | FoundGroups | MissingGroup | Obstacle): found is Obstacle =>
  'reason' in found;

const isFound = (found: FoundGroup | MissingGroup | Obstacle): found is FoundGroup => 'group' in found;

/** Two names of one group would count its nodes twice. */
function namedTwice(found: readonly FoundGroup[]): Obstacle | undefined {
  for (const [at, { group, policy }] of found.entries()) {
    const other = found.slice(0, at).find((one) => one.group.id === group.id);
    if (!other) continue;
    const message = `${other.policy.name} and ${policy.name} are the same group. Keep one of the names.`;
    return { reason: 'GroupAmbiguous', message };
  }
  return undefined;
}

/** Every group of the object in order of priority, or the first thing that is wrong with one. */
export async function findGroups(
  { hosts, accounts, takenBy }: FinderDeps,
  wanted: { readonly name: string; readonly groups: readonly GroupPolicy[]; readonly providerIds: readonly string[] },
  signal: AbortSignal,
): Promise<FoundGroups | Obstacle> {
  const { name, groups, providerIds } = wanted;
  const names = groups.map((group) => group.name);
  const by = { name: 'find groups', is: 'read', owner: name, signal } as const;
  const answers = await Promise.all(
    accounts.map(
      async (account) =>
        [
          account,
          await hosts.call(chosenOf(account), by, (it, ending) => it.find({ names, providerIds }, ending)),
        ] as const,
    ),
  );
  const found = groups.map((policy) => chooseAccount(policy, new Map(answers)));
  const wrong = found.find(isObstacle);
  if (wrong) return wrong;
  const whole = found.filter(isFound);
  const missing = found.filter((one): one is MissingGroup => !isObstacle(one) && !isFound(one));
  for (const { group } of whole) {
    const other = takenBy(group.id, name);
    if (other === undefined) continue;
    const message = `${other} sizes the group ${group.name} already. Take it out of one of the two.`;
    return { reason: 'GroupTaken', message };
  }
  return namedTwice(whole) ?? { groups: whole, missing };
}

export const chosenAccount = chosenOf;
