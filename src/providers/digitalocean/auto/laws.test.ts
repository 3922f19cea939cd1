import { testListedSource } from '../../../conformance/listed-source.ts';
import { openScene, TOKEN } from '../fake/testing.ts';
import provider from '../index.ts';

testListedSource('digitalocean_auto', {
  kind: provider.sources.digitalocean_auto,
  openScene: () => openScene({ pageSize: 1 }),
  config: { region: 'atl1', apiToken: TOKEN },
  entry: { size: 'c-4', image: 'ubuntu-24-04-x64' },
});
