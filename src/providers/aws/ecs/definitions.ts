// The life of task definitions. ECS needs one to run a task and not to keep it running: "A task definition can be submitted
// for deletion at any moment without impacting existing tasks" (Amazon ECS Developer Guide, "Task definition states").
// So each is removed as soon as no launch uses it, and ECS itself deletes it when its last task has ended.
import { chunked } from '#core/chunked.ts';
import { Fault } from '#core/fault.ts';
import { inPages } from '#rest/retry.ts';
import type { EcsCalls, Service } from '../client.ts';
import { type Definition, definitionTags, familyOf, familyPrefix, isFamilyOf } from './definition.ts';

export interface Definitions {
  /** Runs with the ARN of a registered definition, which stays until `run` is done. */
  use<T>(definition: Definition, signal: AbortSignal, run: (arn: string) => Promise<T>): Promise<T>;
  /** Removes those that no launch uses any more, also what an earlier process or a call that failed has left. */
  tidy(signal: AbortSignal): Promise<void>;
}

interface Registered {
  readonly arn: Promise<string>;
  users: number;
}

const PAGE = 100;
// As many as one call deletes.
const MOST_DELETED = 10;
// A listing that removes some waits for them, and ECS takes one such call a second.
const MOST_FAMILIES_AT_ONCE = 3;

export function openDefinitions(ecs: Service<EcsCalls>, cluster: string): Definitions {
  const registered = new Map<string, Registered>();
  /** Families that have, or may have, revisions which must go. */
  const due = new Set<string>();
  const removals = new Map<string, Promise<void>>();
  let areLeftoversKnown = false;

  async function register(family: string, definition: Definition, signal: AbortSignal): Promise<string> {
    const input = { ...definition, family, tags: definitionTags(cluster) };
    const { taskDefinition } = await ecs.ask('RegisterTaskDefinition', input, { signal });
    const arn = taskDefinition?.taskDefinitionArn;
    if (arn === undefined) throw new Fault('unavailable', 'ECS registered a task definition and did not name it.');
    return arn;
  }

  async function everyPage(
    signal: AbortSignal,
    read: (nextToken: {
      readonly nextToken?: string;
    }) => Promise<{ found: readonly string[]; next?: string | undefined }>,
  ): Promise<string[]> {
    const all: string[] = [];
    await inPages(ecs.clock, signal, async (token) => {
      const { found, next } = await read(token === undefined ? {} : { nextToken: token });
      all.push(...found);
      return next;
    });
    return all;
  }

  const revisionsOf = (family: string, status: 'ACTIVE' | 'INACTIVE', signal: AbortSignal): Promise<string[]> =>
    everyPage(signal, async (at) => {
      const input = { familyPrefix: family, status, maxResults: PAGE, ...at };
      const { taskDefinitionArns: found = [], nextToken: next } = await ecs.ask('ListTaskDefinitions', input, {
        signal,
      });
      return { found, next };
    });

  /** Also those whose deletion is in progress: of these nothing is left to do. */
  const families = (signal: AbortSignal): Promise<string[]> =>
    everyPage(signal, async (at) => {
      const input = { familyPrefix: familyPrefix(cluster), status: 'ALL' as const, maxResults: PAGE, ...at };
      const { families: found = [], nextToken: next } = await ecs.ask('ListTaskDefinitionFamilies', input, { signal });
      return { found, next };
    });

  async function removeFamily(family: string, signal: AbortSignal): Promise<void> {
    const active = await revisionsOf(family, 'ACTIVE', signal);
    for (const taskDefinition of active) await ecs.ask('DeregisterTaskDefinition', { taskDefinition }, { signal });
    const inactive = await revisionsOf(family, 'INACTIVE', signal);
    for (const some of chunked([...new Set([...active, ...inactive])], MOST_DELETED)) {
      const { failures = [] } = await ecs.ask('DeleteTaskDefinitions', { taskDefinitions: some }, { signal });
      const kept = failures.find(({ reason = '' }) => !/NOT_FOUND|MISSING/.test(reason));
      if (kept) throw new Fault('unavailable', `ECS keeps ${kept.arn}: ${kept.detail ?? kept.reason}`);
    }
  }

  async function removeOnce(family: string, signal: AbortSignal): Promise<void> {
    const removal = removeFamily(family, signal);
    removals.set(family, removal);
    // The next launch registers it anew, once this is over.
    registered.delete(family);
    try {
      await removal;
      due.delete(family);
    } finally {
      removals.delete(family);
    }
  }

  async function begin(family: string, definition: Definition, signal: AbortSignal): Promise<Registered> {
    while (removals.has(family)) await removals.get(family)?.catch(() => {});
    const known = registered.get(family) ?? { arn: register(family, definition, signal), users: 0 };
    registered.set(family, known);
    known.users += 1;
    due.add(family);
    return known;
  }

  return {
    async use(definition, signal, run) {
      const family = familyOf(cluster, definition);
      const used = await begin(family, definition, signal);
      try {
        return await run(await used.arn);
      } catch (thrown) {
        // Not registered, or removed by another server: the next launch registers it again.
        if (registered.get(family) === used) registered.delete(family);
        throw thrown;
      } finally {
        used.users -= 1;
      }
    },
    async tidy(signal) {
      if (!areLeftoversKnown) {
        for (const family of await families(signal)) if (isFamilyOf(cluster, family)) due.add(family);
        areLeftoversKnown = true;
      }
      const isIdle = (family: string): boolean => (registered.get(family)?.users ?? 0) === 0 && !removals.has(family);
      const idle = [...due].filter(isIdle).slice(0, MOST_FAMILIES_AT_ONCE);
      for (const family of idle) if (isIdle(family)) await removeOnce(family, signal);
    },
  };
}
