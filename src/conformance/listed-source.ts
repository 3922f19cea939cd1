import type { AnyKind, Source } from '#core/provider.ts';
import type { FailureRule, WireCall } from '#fakes/failure-rules.ts';
import type { Scene } from './scene.ts';
import { testSource } from './source.ts';
import type { SourceWorld } from './source-world.ts';

/** A fake cloud whose calls can be made to hang. */
interface Faulty {
  readonly failureRules: { add(failureRule: Pick<FailureRule<WireCall>, 'times' | 'what'>): void };
}

/** How the suite gets at a kind whose pools stand under `pool_details`. */
export interface ListedHarness {
  readonly kind: AnyKind<Source>;
  /** The cloud whose list of types the source reads; in pages of one, where it has pages. */
  openScene(): Scene<Faulty>;
  /** A configuration without `pool_details`, and an entry of it without a name. */
  readonly config: object;
  readonly entry: object;
}

const OWN = 'its documents come from its configuration alone';
const EXCUSES = {
  'lists all': OWN,
  versions: OWN,
  removed: OWN,
  'bad alone': OWN,
  'lists in part': OWN,
  'typed faults': OWN,
};

/** Registers one test for each law of a source, for a kind whose pools its own configuration lists. */
export function testListedSource(title: string, { kind, openScene, config, entry }: ListedHarness): void {
  async function openWorld(): Promise<SourceWorld> {
    const scene = openScene();
    const details = new Map<string, object>();
    const context = scene.contextFor();
    return {
      open: async () => kind.open(kind.config.parse({ ...config, poolDetails: [...details.values()] }), context),
      async write(name, text) {
        const { auto_scaler: scaler } = JSON.parse(text) as { auto_scaler: { max_agents: number } };
        details.set(name, { ...entry, poolName: name, description: String(scaler.max_agents) });
        return name;
      },
      remove: async (name) => void details.delete(name),
      during: scene.during,
      logged: () => scene.lines.join('\n'),
      hang: () => void scene.fake.failureRules.add({ times: 1_000, what: { kind: 'hang' } }),
      close: async () => {},
    };
  }

  testSource(title, { kind, openWorld, excuses: EXCUSES });
}
