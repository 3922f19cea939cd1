import { testListedSource } from '../../../conformance/listed-source.ts';
import { H200, openScene } from '../fake/testing.ts';
import provider from '../index.ts';

const { platform, resourcePreset, ...config } = H200;

testListedSource('nebius_auto', {
  kind: provider.sources.nebius_auto,
  openScene: () => openScene({ pageSize: 1 }),
  config,
  entry: { platform, resourcePreset },
});
