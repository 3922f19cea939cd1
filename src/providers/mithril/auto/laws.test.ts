import { testSource } from '../../../conformance/source.ts';
import type { SourceWorld } from '../../../conformance/source-world.ts';
import { H100, openScene } from '../fake/testing.ts';
import provider from '../index.ts';

const { mithril_auto: kind } = provider.sources;
const PROJECT = { projectId: H100.projectId, region: H100.region, apiToken: H100.apiToken };

async function openWorld(): Promise<SourceWorld> {
  const scene = openScene({ pageSize: 1 });
  const details = new Map<string, object>();
  const context = scene.contextFor();
  return {
    open: () => kind.open(kind.config.parse({ ...PROJECT, poolDetails: [...details.values()] }), context),
    async write(name, text) {
      const description = String((JSON.parse(text) as { auto_scaler: { max_agents: number } }).auto_scaler.max_agents);
      details.set(name, { poolName: name, instanceType: '8xh100', limitPrice: 4.5, description });
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

testSource('mithril_auto', {
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
