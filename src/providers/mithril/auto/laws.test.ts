import { testListedSource } from '../../../conformance/listed-source.ts';
import { H100, openScene } from '../fake/testing.ts';
import provider from '../index.ts';

testListedSource('mithril_auto', {
  kind: provider.sources.mithril_auto,
  openScene: () => openScene({ pageSize: 1 }),
  config: { projectId: H100.projectId, region: H100.region, apiToken: H100.apiToken },
  entry: { instanceType: H100.instanceType, limitPrice: H100.limitPrice },
});
