// How tests get at the fake Cloud Run.
import type { Backend, Context } from '#core/provider.ts';
import { openSceneOf, type Scene } from '../../../../../conformance/scene.ts';
import { openServices } from '../../../cloud-run/backend.ts';
import { CloudRunConfig } from '../../../cloud-run/config.ts';
import { PROJECT, REGION } from '../../compute/seed-data.ts';
import { type FakeGcp, openFakeGcp } from '../../fake-gcp.ts';
import type { GcpCall } from '../../read-call.ts';
import type { RunBehaviour, RunState } from '../state.ts';

export const IMAGE = 'us-central1-docker.pkg.dev/my-project/muster/agent:1.2.0';
export const SERVICE = { project: PROJECT, region: REGION, image: IMAGE };

export interface RunScene extends Scene<FakeGcp> {
  readonly run: RunState;
  open(config?: object, context?: Context): Promise<Backend>;
}

export function openRunScene(behaviour: Partial<RunBehaviour> = {}): RunScene {
  const scene = openSceneOf(openFakeGcp);
  const { fake, during, contextFor } = scene;
  const { run } = fake.world;
  Object.assign(run.behaviour, behaviour);
  fake.world.machineAccount = `muster@${PROJECT}.iam.gserviceaccount.com`;
  return {
    ...scene,
    run,
    open: (config = {}, context = contextFor()) =>
      during(openServices(CloudRunConfig.parse({ ...SERVICE, ...config }), context)),
  };
}

const isLaterPage = ({ service, query }: GcpCall): boolean => service === 'run' && query.pageToken !== undefined;
export const LATER_PAGE = { when: isLaterPage, what: { kind: 'error', code: 'INTERNAL', status: 500 } } as const;
