import { Fault } from '#core/fault.ts';
import type { Launch, Outcome } from '#core/provider.ts';
import { inTurns } from './in-turns.ts';
import type { Claim, Launches } from './launches.ts';
import { readName } from './listing.ts';
import type { ScriptResult } from './run-script.ts';
import type { Making, Scripts } from './scripts.ts';

const BATCH = 'batch';

const made = (name: string, machine: string): Outcome => (machine === name ? { name } : { name, machine });

/** Makes the machines of a launch by scripts, each name once; a name that is left out is unclear. */
export function creatorOf(scripts: Scripts, launches: Launches) {
  async function claimed(
    launch: Launch,
    what: string,
    { signal, work }: { readonly signal: AbortSignal; work(claim: Claim): Promise<Outcome[]> },
  ): Promise<Outcome[]> {
    const claim = await launches.claim(launch.id, what, signal);
    try {
      return await work(claim);
    } finally {
      claim.release();
    }
  }

  function known(launch: Launch, names: readonly string[]): Outcome[] {
    return names.flatMap((name) => {
      const machine = launches.made(launch.id, name);
      return machine === undefined ? [] : [made(name, machine)];
    });
  }

  async function keep(launch: Launch, outcomes: readonly Outcome[]): Promise<void> {
    for (const { name, machine } of outcomes) await launches.setMade(launch.id, name, machine ?? name);
  }

  /** What an earlier script made and could not tell; only those show that bear the names we chose. */
  async function found(launch: Launch, names: readonly string[], { claim, signal }: Making): Promise<Outcome[]> {
    if (!claim.wasAsked || names.length === 0) return [];
    const listed = new Set((await scripts.list(signal)).map(({ name }) => name));
    const outcomes = names.filter((name) => listed.has(name)).map((name) => made(name, name));
    await keep(launch, outcomes);
    return outcomes;
  }

  /** Undefined if the script was cancelled: then its outcome is unknown. */
  async function tried(script: Promise<ScriptResult>, signal: AbortSignal): Promise<ScriptResult | undefined> {
    try {
      return await script;
    } catch (thrown) {
      if (signal.aborted) throw thrown;
      return undefined;
    }
  }

  async function startOne(launch: Launch, name: string, making: Making): Promise<Outcome[]> {
    const before = [...known(launch, [name]), ...(await found(launch, [name], making))];
    if (before.length > 0) return before.slice(0, 1);
    const result = await tried(scripts.start(launch, name, making), making.signal);
    if (!result) return [];
    if (result.fault) return [{ name, fault: result.fault }];
    const outcomes = [made(name, readName(result.lines) ?? name)];
    await keep(launch, outcomes);
    return outcomes;
  }

  async function startBatch(launch: Launch, making: Making): Promise<Outcome[]> {
    const before = known(launch, launch.names);
    const unknown = without(launch.names, before);
    before.push(...(await found(launch, unknown, making)));
    const left = without(launch.names, before);
    if (left.length === 0) return before;
    const result = await tried(scripts.batchStart(launch, left, making), making.signal);
    if (!result) return before;
    if (result.fault) return [...before, ...left.map((name) => ({ name, fault: result.fault }))];
    // Without a word about names, the machines bear those that they were asked for.
    const printed = result.lines.length === 0 ? left : result.lines.map((line) => readName([line]) ?? line);
    const outcomes = left.slice(0, printed.length).map((name, at) => made(name, printed[at] ?? name));
    await keep(launch, outcomes);
    return [...before, ...outcomes];
  }

  return async (launch: Launch, signal: AbortSignal): Promise<Outcome[]> => {
    if (signal.aborted) throw new Fault('unavailable', 'The call was cancelled.');
    if (launch.names.length > 1 && scripts.canBatch)
      return claimed(launch, BATCH, { signal, work: (claim) => startBatch(launch, { claim, signal }) });
    const all = await inTurns(launch.names, (name) =>
      claimed(launch, name, { signal, work: (claim) => startOne(launch, name, { claim, signal }) }),
    );
    return all.flat();
  };
}

function without(names: readonly string[], outcomes: readonly Outcome[]): string[] {
  const resolved = new Set(outcomes.map(({ name }) => name));
  return names.filter((name) => !resolved.has(name));
}
