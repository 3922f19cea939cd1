// The fake AWS as users run it, to try a configuration without an account.
import type { RunningSimulation, Simulation } from '#core/simulation.ts';
import { openFakeAws } from './fake-aws.ts';
import { publishedLimits } from './limits.ts';
import type { Region } from './region.ts';
import { fillRegion, GPU_BACKEND } from './seed-data.ts';
import { serve } from './serve.ts';
import { setParameter } from './ssm/parameter.ts';
import type { World } from './world.ts';

const REGION = 'us-west-2';
const PREFIX = '/velda/pools/';
// Fast enough to watch, slow enough to see every state.
const BEHAVIOUR = { bootMs: 1_500, stopMs: 1_500, terminateMs: 1_500, listLagMs: 500 };

const DOCUMENT = {
  name: 'gpu-pool',
  auto_scaler: {
    backend: {
      aws_launch_template: { region: REGION, ...GPU_BACKEND },
    },
    max_agents: 4,
    min_idle_agents: 0,
    max_idle_agents: 1,
  },
};

/** One pool is there from the start. */
function fillForTrying(region: Region, world: World): void {
  fillRegion(region, world);
  if (region.name !== REGION) return;
  setParameter(region, {
    name: `${PREFIX}gpu-pool`,
    kind: 'String',
    tier: 'Standard',
    description: 'An example.',
    keyId: undefined,
    dataType: 'text',
    allowedPattern: undefined,
    versions: [{ value: JSON.stringify(DOCUMENT, undefined, 2), version: 1, atMs: world.clock.now() }],
    tags: new Map(),
  });
}

const TRIES = [
  "cat > muster.yaml <<'END'",
  'provisioners:',
  `  - aws: { region: ${REGION}, config_prefix: ${PREFIX}, update_interval: 10s }`,
  'END',
  'npx muster server --config muster.yaml   # it finds the pool gpu-pool in the Parameter Store',
  'npx muster run --pool gpu-pool -- uname -a',
];

async function start({ clock, random, port }: Parameters<Simulation['start']>[0]): Promise<RunningSimulation> {
  const fake = openFakeAws({ clock, random, behaviour: BEHAVIOUR, limits: publishedLimits, fillRegion: fillForTrying });
  const served = await serve(fake, { port, boots: true });
  return {
    address: served.address,
    folder: served.machines?.folder ?? '',
    environment: {
      AWS_ENDPOINT_URL: served.address,
      AWS_REGION: REGION,
      AWS_DEFAULT_REGION: REGION,
      AWS_ACCESS_KEY_ID: 'simulated',
      AWS_SECRET_ACCESS_KEY: 'simulated',
      AWS_EC2_METADATA_DISABLED: 'true',
    },
    tries: TRIES,
    close: () => served.close(),
  };
}

export default { summary: 'EC2, Parameter Store and STS', start } satisfies Simulation;
