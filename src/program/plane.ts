// The control plane without its edges: the same composition serves the program and the simulator.
import { type Access, openAccess } from '#access/access.ts';
import { type Clouds, openClouds } from '#clouds/clouds.ts';
import { type Gate, openGate } from '#clouds/gate.ts';
import type { KnownKinds } from '#config/kinds.ts';
import { offerShapes } from '#config/offers.ts';
import { type PoolReading, readPoolText } from '#config/pool-document.ts';
import { openTextReader } from '#config/text-reader.ts';
import type { AgentLink } from '#core/agent-link.ts';
import type { Budgets } from '#core/budget.ts';
import type { Clock } from '#core/clock.ts';
import type { AgentOwner, BootSettings } from '#core/feature.ts';
import { DEFAULT_FILE_LIMITS, type FileLimits, type Files } from '#core/file.ts';
import type { Log } from '#core/log.ts';
import type { PoolSpec } from '#core/pool.ts';
import type { Boot, Context } from '#core/provider.ts';
import type { Random } from '#core/random.ts';
import { poolSubject } from '#core/reason.ts';
import type { ReportedDecision } from '#core/source.ts';
import type { Store } from '#core/store.ts';
import type { FileContents } from '#files/contents.ts';
import { openFiles } from '#files/files.ts';
import { contentsInMemory } from '#files/in-memory.ts';
import { type ModelThread, openModelThread } from '#foresight/model-turns.ts';
import type { ActedDecision } from '#journal/decisions.ts';
import { type Journal, startJournal } from '#journal/journal.ts';
import type { Redactor } from '#journal/redact.ts';
import type { Retention } from '#journal/retention.ts';
import { type Series, startSeries } from '#journal/series.ts';
import { type Machines, startMachines } from '#machines/machines.ts';
import { type OpenedSource, type Pools, startPools } from '#pools/pools.ts';
import type { SessionsDeps } from '#sessions/deps.ts';
import { type Sessions, startSessions } from '#sessions/sessions.ts';
import { startWorkers, type Times, type Workers } from '#workers/workers.ts';
import { features as allFeatures } from './features.gen.ts';
import { type AnyFeature, type RunningFeatures, type Sections, startFeatures } from './features.ts';
import { learnPool, learnStored } from './secrets.ts';

export interface PlaneParts {
  readonly store: Store;
  readonly clock: Clock;
  readonly random: Random;
  readonly log: Log;
  readonly redactor: Redactor;
  readonly kinds: KnownKinds;
  readonly context: Context;
  readonly link: AgentLink;
  readonly sources: readonly OpenedSource[];
  /** Where this machine's admin token is kept; absent: nowhere. */
  readonly dataDir?: string | undefined;
  readonly retention?: Partial<Retention>;
  readonly times?: Partial<Times>;
  readonly limits?: SessionsDeps['limits'];
  /** Where the bytes of uploaded files are; absent: in memory. */
  readonly contents?: FileContents | undefined;
  readonly fileLimits?: FileLimits | undefined;
  /** The agent's file for new machines of an owner; the certificate authority is known only once access is open. */
  agentConfig(owner: AgentOwner, access: Access): string;
  /** Makes the agent ready for machines that have none. */
  readonly packAgent?: () => Promise<void>;
  /** Where new machines get the agent, as soon as it is ready. */
  install?(access: Access): Boot['install'];
  /** Absent: one of its own. */
  readonly gate?: Gate | undefined;
  /** Absent: in a thread of its own. */
  readonly model?: ModelThread | undefined;
  /** Absent: all there are. */
  readonly features?: readonly AnyFeature[];
  /** What the server's file says for each of them. */
  readonly sections?: Sections;
}

/** All that decides and acts. */
export interface Plane {
  readonly access: Access;
  readonly journal: Journal;
  /** The way out for sources and every other family of kinds. */
  readonly gate: Gate;
  readonly clouds: Clouds;
  readonly machines: Machines;
  readonly pools: Pools;
  readonly workers: Workers;
  readonly sessions: Sessions;
  readonly files: Files;
  readonly features: RunningFeatures;
  readonly series: Series;
  stop(): Promise<void>;
}

export async function startPlane(parts: PlaneParts): Promise<Plane> {
  const { store, clock, random, log, redactor, link } = parts;
  const base = { store, clock, random, log };
  await learnStored(redactor, parts.kinds, { store, clock });
  const journal = startJournal({ ...base, redactor, retention: parts.retention });
  const access = await openAccess({ ...base, event: journal.event, dataDir: parts.dataDir });
  const { gate = openGate(base) } = parts;
  const clouds = openClouds({
    ...base,
    gate,
    kinds: parts.kinds.backends,
    context: parts.context,
    packAgent: parts.packAgent,
    poolName: (id) => store.view.pools.get(id)?.name,
  });
  const texts = openTextReader(parts.clock);
  const pools = await startPools({
    ...base,
    journal,
    readPool(text, rules) {
      const learn = (read: PoolReading): PoolReading => {
        if (read.spec) learnPool(redactor, parts.kinds, read.spec);
        return read;
      };
      const reading = readPoolText(text, { kinds: parts.kinds.backends, ...rules }, texts);
      return reading instanceof Promise ? reading.then(learn) : learn(reading);
    },
    sources: parts.sources,
    redact: redactor.text,
    gate,
    thaw: (pool, actor) => workers.thaw(pool, actor),
    activityOf(pool) {
      const { decision, lastAction } = journal.lastDecision(poolSubject(pool)) ?? {};
      return {
        decision: reported(decision),
        lastAction: reported(lastAction),
        trouble: workers.trouble(pool),
        need: workers.need(pool),
      };
    },
  });
  const machines = startMachines({
    ...base,
    journal,
    clouds,
    offerShape: offerShapes(parts.kinds.backends),
    times: parts.times,
    launchToken: access.launchToken,
    verifyLaunchToken: access.verifyLaunchToken,
  });
  const series = startSeries({ store, clock, wanted: (pool) => workers.need(pool)?.wanted });
  const boot: BootSettings = {
    agentConfig: (owner) => parts.agentConfig(owner, access),
    install: () => parts.install?.(access),
  };
  // Passes begin in a later turn, when the features have started.
  let running: RunningFeatures | undefined;
  const budgets = (): Budgets | undefined => running?.public.budgets;
  const workers = startWorkers({
    ...base,
    budgets,
    journal,
    clouds,
    machines,
    link,
    admit: access.admit,
    boot,
    activityChanged(pool) {
      pools.noteActivity(pool);
      series.touch(pool);
    },
    times: parts.times,
  });
  const files = openFiles({
    ...base,
    contents: parts.contents ?? contentsInMemory(),
    limits: parts.fileLimits ?? DEFAULT_FILE_LIMITS,
  });
  const sessions = startSessions({
    ...base,
    journal,
    link,
    files,
    seesOurFiles: ({ spec }) => seesOurFiles(spec, parts.kinds),
    limits: parts.limits,
    noteUnknown: machines.noteUnknown,
  });
  const { context, kinds, sections, model = openModelThread(clock) } = parts;
  const parted = {
    ...base,
    budgets,
    context,
    link,
    boot,
    journal,
    access,
    clouds,
    machines,
    gate,
    kinds,
    model,
    sections,
  };
  const features = startFeatures(parts.features ?? allFeatures, parted);
  running = features;
  budgets()?.onTurn(workers.budgetTurned);
  return {
    access,
    journal,
    gate,
    clouds,
    machines,
    pools,
    workers,
    sessions,
    files,
    features,
    series,
    async stop() {
      await features.stop();
      await model.close();
      await pools.stop();
      await sessions.stop();
      await files.stop();
      await workers.stop();
      await machines.stop();
      await clouds.stop();
      await series.stop();
      await journal.stop();
    },
  };
}

/** Its agents are processes of this machine, under our own user. */
function seesOurFiles({ offers }: PoolSpec, { backends }: KnownKinds): boolean {
  const isOurs = ({ kind, config }: PoolSpec['offers'][number]): boolean =>
    backends[kind]?.isLocal === true && backends[kind]?.runsAsOther?.(config) !== true;
  return offers.length > 0 && offers.every(isOurs);
}

function reported(decided: ActedDecision | undefined): ReportedDecision | undefined {
  if (!decided) return undefined;
  const { did, reason, also = [], why, at } = decided;
  return { did, reasons: [reason, ...also].flatMap((each) => each?.code ?? []), why, at };
}
