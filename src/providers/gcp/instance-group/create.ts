// Names are ours, so a launch makes nothing twice: the request id is the same for each try, and a name exists once.
import { Fault } from '#core/fault.ts';
import { nameWithMark } from '#core/mark-name.ts';
import type { Backend, Launch, Outcome } from '#core/provider.ts';
import { checkEach } from '#rest/creations.ts';
import type { Operation } from '../compute/api.ts';
import { faultOfErrors } from '../compute/faults.ts';
import { MARK_KEY, markText } from '../compute/marks.ts';
import { requestIdFor } from '../compute/operation.ts';
import { STARTUP_KEY, startupScript } from '../compute/startup.ts';
import type { GroupConfig } from './config.ts';
import { type Facts, factsOf } from './facts.ts';
import { type Group, listGroup, type MarkedManaged } from './group.ts';
import { isPlaced, troubleOf } from './machine.ts';

/** The group has taken a request in, and looks for places: from then on its listing tells how that goes. */
const PLACING = 'placing';

function bodyFor(config: GroupConfig, facts: Facts, launch: Launch, names: readonly string[]): object {
  const { mark, boot, askedAt } = launch;
  if (config.marks === 'name') return { instances: names.map((name) => ({ name: nameWithMark(name, mark) })) };
  const { isSpot, startupScript: ofTemplate } = facts;
  const text = markText(mark, askedAt);
  const metadataOf = (name: string) => ({
    [MARK_KEY]: text,
    [STARTUP_KEY]: startupScript({ boot, naming: { name }, overrides: config, isSpot, ofTemplate }),
  });
  return { instances: names.map((name) => ({ name, preservedState: { metadata: metadataOf(name) } })) };
}

/** Until an instance has its place, the group may still find out that there is none. */
function placementOf(name: string, found: MarkedManaged | undefined): Outcome {
  const trouble = found && troubleOf(found.managed, name);
  if (trouble?.final) return { name, fault: new Fault(trouble.kind, trouble.message, { remedy: '' }) };
  return found && isPlaced(found.managed) ? { name } : { name, operation: PLACING };
}

export function creatorOf(group: Group, config: GroupConfig): Required<Pick<Backend, 'create' | 'check'>> {
  const { compute, path, place } = group;

  async function post(launch: Launch, names: readonly string[], signal: AbortSignal): Promise<Outcome[]> {
    const body = bodyFor(config, await factsOf(group, signal), launch, names);
    const query = { requestId: requestIdFor(path, launch.id, ...names) };
    const request = { method: 'POST', path: `${path}/createInstances`, query, body } as const;
    const { name: operation } = await compute.ask<Operation>(request, signal);
    return names.map((name) => ({ name, operation: `${place}/operations/${operation}` }));
  }

  /** What became of the request itself, where it failed. */
  async function failureOf(operation: string, signal: AbortSignal): Promise<Fault | 'running' | undefined> {
    if (operation === PLACING) return undefined;
    const { status, error } = await compute.ask<Operation>({ path: `/${operation}` }, signal);
    if (status !== 'DONE') return 'running';
    return error && faultOfErrors(`createInstances of ${group.name} (${place})`, error.errors ?? []);
  }

  return {
    async create(launch, signal) {
      if (signal.aborted) throw new Fault('unavailable', 'The creation was cancelled.');
      try {
        return await post(launch, launch.names, signal);
      } catch (thrown) {
        const fault = Fault.from(thrown);
        if (fault.kind !== 'conflict' && fault.kind !== 'invalid') throw fault;
        // A name that exists is refused: then only those that do not are asked for.
        const marked = await listGroup(group, signal);
        const missing = launch.names.filter((name) => !marked.has(name));
        if (missing.length === launch.names.length) throw fault;
        const asked = missing.length > 0 ? await post(launch, missing, signal) : [];
        return launch.names.map(
          (name) => asked.find((one) => one.name === name) ?? placementOf(name, marked.get(name)),
        );
      }
    },
    check: (pending, signal) =>
      checkEach(pending, signal, async (operation, names) => {
        const failure = await failureOf(operation, signal);
        if (failure === 'running') return names.map((name) => ({ name, operation }));
        const marked = await listGroup(group, signal);
        return names.map((name) => {
          const found = marked.get(name);
          return failure && !found ? { name, fault: failure } : placementOf(name, found);
        });
      }),
  };
}
