// What the tests of a cloud's folder share: its fake on a virtual clock, and contexts that see nothing else.
import type { FaultKind } from '#core/fault.ts';
import { launchNames } from '#core/id.ts';
import type { Backend, Context, Launch, Outcome } from '#core/provider.ts';
import { seededRandom } from '#core/random.ts';
import { during } from '#core/testing/during.ts';
import { going } from '#core/testing/going.ts';
import { VirtualClock } from '#core/virtual-clock.ts';
import type { CallFailure, FailureRules, WireCall } from '#fakes/failure-rules.ts';
import { unaryOver } from '#fakes/grpc.ts';
import { type BackendWorld, contextWithLog, markOf, OURS } from './backend-world.ts';

export interface Scene<Fake> {
  readonly clock: VirtualClock;
  readonly fake: Fake;
  readonly lines: string[];
  /** A process of its own for each. */
  contextFor(cluster?: string, variables?: Readonly<Record<string, string>>): Context;
  /** Awaits a call while time passes. */
  during<T>(call: Promise<T>): Promise<T>;
}

/** A scene around the fake that `open` makes. */
export function openSceneOf<Fake extends Pick<Context, 'fetch'>>(open: (clock: VirtualClock) => Fake): Scene<Fake> {
  const clock = new VirtualClock();
  const fake = open(clock);
  const lines: string[] = [];
  return {
    clock,
    fake,
    lines,
    contextFor(cluster = OURS, variables = {}) {
      const parts = {
        cluster,
        clock,
        random: seededRandom(2),
        fetch: fake.fetch,
        unary: unaryOver(fake.fetch),
        dataDir: '/nowhere',
        agentCommand: [],
      };
      return contextWithLog({ ...parts, variable: (name) => variables[name] }, lines);
    },
    during: (call) => during(clock, call),
  };
}

const ARCHIVE = { machine: 'x86_64', url: 'https://muster:8081/agent/agent.tar.gz', sha256: 'ab12' } as const;

/** A launch as the program makes it: names that differ only in their place. */
export function aBatch(count: number, id = 'launch1', owner = 'pool1'): Launch {
  const agentConfig = 'broker:\n  address: https://muster:50051\npool: gpu\n';
  return {
    id,
    mark: { ...markOf(OURS), owner },
    names: launchNames({ name: 'gpu', id: owner }, count, seededRandom(3)),
    boot: { agentConfig, token: 'mlt_secret', install: { archives: [ARCHIVE] } },
    askedAt: 1_000,
  };
}

/** Creates, and checks each second what is pending, as the program does, until that is enough; answers what is known of each name. */
export async function createdBy(
  { clock, during: awaited }: Pick<Scene<unknown>, 'clock' | 'during'>,
  backend: Backend,
  launch: Launch,
  isEnough = (outcomes: readonly Outcome[]): boolean => outcomes.every(({ operation }) => operation === undefined),
): Promise<readonly Outcome[]> {
  let outcomes = await awaited(backend.create(launch, going()));
  for (let seconds = 0; seconds < 120 && !isEnough(outcomes); seconds++) {
    await clock.advance(1_000);
    const pending = outcomes.flatMap(({ name, operation }) => (operation === undefined ? [] : [{ name, operation }]));
    const checked = (await awaited(backend.check?.(pending, going()) ?? Promise.resolve([]))).map(
      (outcome) => [outcome.name, outcome] as const,
    );
    const byName = new Map(checked);
    outcomes = outcomes.map((one) =>
      one.operation === undefined ? one : (byName.get(one.name) ?? { name: one.name }),
    );
  }
  return outcomes;
}

/** The refusals of a cloud, by what the program makes of them. */
export type Failures = Readonly<Partial<Record<FaultKind, CallFailure>>>;

interface Trouble<Call extends WireCall> {
  /** The action that creates machines. */
  readonly creation: string;
  /** What breaks a listing after its first part. */
  readonly laterPage: Parameters<FailureRules<Call>['add']>[0];
  readonly failures: Failures;
}

/** What every world of a fake cloud does alike: time passes, calls hang, answers get lost, creations are refused. */
export function troubleIn<Call extends WireCall>(
  { clock, fake, lines, during: awaited }: Scene<{ readonly failureRules: FailureRules<Call> }>,
  { creation, laterPage, failures }: Trouble<Call>,
) {
  const { failureRules } = fake;
  return {
    during: awaited,
    settle: () => clock.advance(60_000),
    logged: () => lines.join('\n'),
    loseReply: () => void failureRules.add({ action: creation, what: { kind: 'lost reply' } }),
    breakListing: () => void failureRules.add({ ...laterPage, times: 1_000 }),
    hang: () => void failureRules.add({ times: 1_000, what: { kind: 'hang' } }),
    fail: (kind: FaultKind) => void failureRules.add({ action: creation, what: failures[kind] as CallFailure }),
    close: async () => {},
  } satisfies Partial<BackendWorld>;
}
