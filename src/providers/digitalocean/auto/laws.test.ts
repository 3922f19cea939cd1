import { testSource } from '../../../conformance/source.ts';
import type { SourceWorld } from '../../../conformance/source-world.ts';
import { openScene, TOKEN } from '../fake/testing.ts';
import provider from '../index.ts';

const { digitalocean_auto: kind } = provider.sources;

async function openWorld(): Promise<SourceWorld> {
  const scene = openScene({ pageSize: 1 });
  const details = new Map<string, object>();
  const context = scene.contextFor();
  return {
    open: () =>
      kind.open(kind.config.parse({ region: 'atl1', apiToken: TOKEN, poolDetails: [...details.values()] }), context),
    async write(name, text) {
      const description = String((JSON.parse(text) as { auto_scaler: { max_agents: number } }).auto_scaler.max_agents);
      details.set(name, { poolName: name, size: 'c-4', image: 'ubuntu-24-04-x64', description });
      return name;
    },
    remove: async (name) => void details.delete(name),
    during: scene.during,
    logged: () => scene.lines.join('\n'),
    hang: () => void scene.fake.mishaps.add({ times: 1_000, what: { kind: 'hang' } }),
    close: async () => {},
  };
}

const OWN = 'its documents come from its configuration alone';

testSource('digitalocean_auto', {
  kind,
  openWorld,
  excuses: {
    'lists all': OWN,
    versions: OWN,
    removed: OWN,
    'bad alone': OWN,
    'lists in part': OWN,
    'typed faults': OWN,
  },
});
