import { agentFile } from '#boot/agent-file.ts';
import { bootScript, NAME_PLACE, WORK_DIR } from '#boot/script.ts';
import type { Clock } from '#core/clock.ts';
import { Fault, type FaultKind } from '#core/fault.ts';
import type { Backend, Context, Launch, Machine, Mark, Outcome, PendingCreate } from '#core/provider.ts';
import type { MachineConfig } from './config.ts';
import type { Mistakes } from './mistakes.ts';

/** A machine as the cloud lists it. */
interface Listed {
  readonly name: string;
  readonly labels: Mark;
  readonly madeAtMs: number;
  readonly state: Machine['state'];
  readonly address: string;
  /** Those of its request. */
  readonly port?: number;
  readonly endsAtMs?: number;
  /** Why it will never run. */
  readonly reason?: string;
}

/** A creation that the cloud has agreed to. */
interface Operation {
  readonly id: string;
  readonly state: 'running' | 'done' | 'failed';
  readonly reason?: string;
}

/** What the cloud did with each name. */
interface Changed {
  readonly done: readonly string[];
  readonly already: readonly string[];
  readonly absent: readonly string[];
  readonly foreign: readonly string[];
}

const KINDS: Readonly<Record<string, FaultKind>> = {
  not_allowed: 'denied',
  out_of_stock: 'exhausted',
  over_quota: 'quota',
  too_many_requests: 'throttled',
};

/** The kind of a failure; unknown codes go by their status. */
const kindOf = (code: string, status: number): FaultKind => KINDS[code] ?? (status >= 500 ? 'unavailable' : 'invalid');

/** As a backend does that writes the agent's file itself. */
const withoutEnd = (boot: Launch['boot']): Launch['boot'] => ({
  ...boot,
  agentConfig: boot.agentConfig.replace(/^endsAt:.*\n/m, ''),
});

type Ask = (path: string, signal: AbortSignal, body?: unknown) => Promise<unknown>;

function client({ url }: MachineConfig, { fetch }: Context, mistakes: Mistakes): Ask {
  return async (path, signal, body) => {
    if (!mistakes.ignoresAbort && signal.aborted) throw new Fault('unavailable', 'The call was aborted.');
    const isDeaf = mistakes.ignoresAbort || mistakes.hangsForEver;
    const sent = body === undefined ? {} : { method: 'POST', body: JSON.stringify(body) };
    const reply = await fetch(new URL(path, url), { ...sent, ...(isDeaf ? {} : { signal }) }).catch((cause) => {
      throw new Fault('unavailable', `No answer from ${url} to ${path}.`, { cause });
    });
    const text = await reply.text();
    if (reply.ok) return JSON.parse(text);
    const code = /"code":"(\w+)"/.exec(text)?.[1] ?? 'bad_gateway';
    const kind = mistakes.everyFaultIsInternal ? 'internal' : kindOf(code, reply.status);
    throw new Fault(kind, `${url} answered ${path} with ${reply.status} ${code}.`);
  };
}

const WATCH_AGAIN_MS = 5_000;
let repeats = 0;

/** One call after the other, each of which the cloud answers at the next change. */
async function waitForChanges(
  { ask, clock, mistakes }: { ask: Ask; clock: Clock; mistakes: Mistakes },
  changed: () => void,
  stopping: AbortSignal,
): Promise<void> {
  const signal = mistakes.hintsForEver ? new AbortController().signal : stopping;
  while (!signal.aborted) {
    const isChanged = await ask('/machines/watch', signal).then(
      () => true,
      () => false,
    );
    if (signal.aborted) return;
    if (!isChanged) await clock.sleep(WATCH_AGAIN_MS, signal);
    else if (!mistakes.neverHints) changed();
  }
}

/** The mistakes are for tests of the suites: without them it keeps every law. */
export async function openBackend(config: MachineConfig, context: Context, mistakes: Mistakes = {}): Promise<Backend> {
  const { cluster, clock, log } = context;
  const ask = client(config, context, mistakes);
  // Of mistakes alone.
  const [own, reported] = [new Set<string>(), new Set<string>()];

  function reachOf({ address, port, endsAtMs }: Listed): Pick<Machine, 'endpoints' | 'endsAt'> {
    const shown = mistakes.showsOnePort || mistakes.showsPortAlways ? 8_000 : port;
    const isShown = (port !== undefined || mistakes.showsPortAlways) && !mistakes.hidesEndpoints;
    const host = mistakes.showsOwnHost ? 'localhost' : address;
    return {
      ...(isShown && shown !== undefined && { endpoints: [{ host, port: shown }] }),
      ...(endsAtMs !== undefined && !mistakes.hidesEnd && { endsAt: endsAtMs }),
    };
  }

  function asMachine(listed: Listed): Machine {
    const { name, labels, madeAtMs, state, reason } = listed;
    const mark = mistakes.listsAllAsWorkers ? { ...labels, use: 'worker' as const } : labels;
    const own = { name, id: name, mark: mistakes.dropsMarks ? undefined : mark, createdAt: madeAtMs, state };
    const machine = { ...own, ...reachOf(listed) };
    if (reason === undefined) return machine;
    return { ...machine, trouble: { kind: kindOf(reason, 500), message: `The cloud says ${reason}.`, final: true } };
  }

  async function listAll(signal: AbortSignal): Promise<Listed[]> {
    const all: Listed[] = [];
    for (let page: string | undefined = ''; page !== undefined; ) {
      const asked = ask(page === '' ? '/machines' : `/machines?page=${encodeURIComponent(page)}`, signal);
      const answer = await (mistakes.swallowsBrokenPage && page !== '' ? asked.catch(() => ({ items: [] })) : asked);
      const { items, next } = answer as { items: readonly Listed[]; next?: string };
      all.push(...items);
      page = mistakes.firstPageOnly ? undefined : next;
    }
    return all;
  }

  async function list(signal: AbortSignal): Promise<readonly Machine[]> {
    const shown = (await listAll(signal))
      .filter(({ labels }) => mistakes.listsForeign || labels.cluster === cluster)
      .filter(({ reason }) => !(mistakes.dropsLateFailures && reason));
    return shown.map(asMachine);
  }

  /** The launch is the token of the request: the cloud makes nothing twice for it. */
  function requestOf({ id, mark, boot, names, askedAt }: Launch) {
    const text = agentFile(mistakes.forgetsEnd ? withoutEnd(boot) : boot, { name: NAME_PLACE, workDir: WORK_DIR });
    const install = mistakes.dropsInstall ? undefined : boot.install;
    const script = bootScript({ naming: { shell: 'name=$MEMORY_NAME' }, agentFile: text, install });
    const isAnother = mistakes.createsAgain || mistakes.namesAllAlike;
    const wanted = mistakes.namesAllAlike ? names.map(() => names[0]) : names;
    const token = isAnother ? `${id} ${clock.now()} ${repeats++}` : id;
    // Counted from when it was asked for, and not from now: a repeat has the same bytes.
    const fromMs = mistakes.countsEndFromNow ? clock.now() : askedAt;
    const lifeMs =
      boot.endsAt === undefined || mistakes.dropsEnd || mistakes.forgetsEnd ? undefined : boot.endsAt - fromMs;
    const made = { labels: mark, size: config.size, script, port: boot.port, lifeMs };
    return { token, names: wanted, ...made, isFollowed: config.operations };
  }

  async function create(launch: Launch, signal: AbortSignal): Promise<readonly Outcome[]> {
    if (mistakes.logsToken) log('info', 'launching', { token: launch.boot.token });
    const request = requestOf(launch);
    const asked = ask('/machines/create', signal, request).catch((thrown) => {
      const isLost = Fault.from(thrown).kind === 'unavailable';
      if (isLost && mistakes.lostReplyIsFailure) throw new Fault('exhausted', 'No capacity.');
      if (!isLost || !mistakes.repeatsAfterLostReply) throw thrown;
      return ask('/machines/create', signal, { ...request, token: `${launch.id} again` });
    });
    const { operations = {} } = (await asked) as { operations?: Readonly<Record<string, string>> };
    for (const operation of Object.values(operations)) own.add(operation);
    return launch.names.map((name) =>
      mistakes.callsPendingMade ? { name } : { name, operation: operations[name] ?? undefined },
    );
  }

  function endOf(name: string, { id, state, reason }: Operation): Outcome[] {
    if (mistakes.checksOnlyItsOwn && !own.has(id)) return [];
    const isFailed = state === 'failed' && !mistakes.dropsLateFailures;
    if (state === 'running' && !mistakes.callsPendingFailed) return [{ name, operation: id }];
    if (!isFailed && !mistakes.callsPendingFailed) return [{ name }];
    if (mistakes.tellsFailuresOnce && reported.has(id)) return [];
    reported.add(id);
    return [{ name, fault: new Fault(kindOf(reason ?? '', 500), `The cloud says ${reason}.`) }];
  }

  async function check(pending: readonly PendingCreate[], signal: AbortSignal): Promise<readonly Outcome[]> {
    const ids = pending.map(({ operation }) => operation).join();
    const { operations } = (await ask(`/machines/operations?ids=${ids}`, signal)) as { operations: Operation[] };
    return pending.flatMap(({ name, operation }) => {
      const found = operations.find(({ id }) => id === operation);
      return found ? endOf(name, found) : [];
    });
  }

  function outcomeOf(name: string, { done, already, absent }: Changed, isRepeatable: boolean): Outcome {
    if (done.includes(name) || (isRepeatable && already.includes(name))) return { name };
    if (already.includes(name)) return { name, fault: new Fault('conflict', `${name} is so already.`) };
    if (absent.includes(name)) return { name, fault: new Fault('missing', `${name} is not there.`) };
    return { name, fault: new Fault('denied', `${name} belongs to another cluster.`) };
  }

  /** Only what bears our mark in the cloud itself is changed, whatever the caller shows. */
  async function change(to: 'delete' | 'suspend' | 'resume', names: readonly string[], signal: AbortSignal) {
    const isDeleting = to === 'delete' || (to === 'suspend' && mistakes.suspendDeletes);
    const isBlind = to === 'delete' ? mistakes.deletesForeign || mistakes.trustsTheShownMark : mistakes.suspendsForeign;
    const takesAll = to === 'delete' ? mistakes.deletesAll : mistakes.suspendsAll;
    const all = takesAll ? (await listAll(signal)).map(({ name }) => name) : names;
    const path = `/machines/${isDeleting ? 'delete' : to}`;
    return (await ask(path, signal, {
      names: all,
      ...(isBlind ? {} : { cluster }),
      ...(mistakes.leavesDisks ? { keepsDisks: true } : {}),
    })) as Changed;
  }

  async function remove(machines: readonly Machine[], signal: AbortSignal): Promise<readonly Outcome[]> {
    const isForeign = ({ mark }: Machine): boolean => mark?.cluster !== cluster && !mistakes.deletesForeign;
    const isKept = ({ trouble }: Machine): boolean => mistakes.showsLateFailuresForEver === true && !!trouble;
    const listed = mistakes.trustsListings ? (await listAll(signal)).map(({ name }) => name) : undefined;
    const isSkipped = (machine: Machine): boolean => isKept(machine) || listed?.includes(machine.name) === false;
    const asked = machines.filter((machine) => !isForeign(machine) && !isSkipped(machine)).map(({ name }) => name);
    const changed = await change('delete', asked, signal);
    return machines.map((machine) => {
      const { name } = machine;
      if (isForeign(machine)) return { name, fault: new Fault('denied', `${name} belongs to another cluster.`) };
      const isGone = isSkipped(machine) || (!mistakes.absentIsAnError && changed.absent.includes(name));
      return isGone ? { name } : outcomeOf(name, changed, true);
    });
  }

  const parkTo = (to: 'suspend' | 'resume') => async (machines: readonly Machine[], signal: AbortSignal) => {
    const names = machines.map(({ name }) => name);
    const changed = await change(to, names, signal);
    return names.map((name) => outcomeOf(name, changed, !mistakes.suspendsOnce));
  };
  const watch: Backend['watch'] = (changed, signal) => void waitForChanges({ ask, clock, mistakes }, changed, signal);
  const park = { most: config.parked, suspend: parkTo('suspend'), resume: parkTo('resume') };
  const backend: Backend = {
    cloud: `memory:${config.url}`,
    account: mistakes.accountAnew ? `memory:${repeats++}` : `memory:${config.url}`,
    ...(mistakes.claimsExact ? { isExact: true } : {}),
    ...(config.watches ? { watch } : {}),
    list,
    create,
    check,
    delete: remove,
  };
  return config.parked > 0 ? { ...backend, park } : backend;
}
