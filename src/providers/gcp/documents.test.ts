import { describe, expect, it } from 'vitest';
import { offerShapes } from '#config/offers.ts';
import { readPool } from '#config/pool-document.ts';
import gcp from './index.ts';

type Tree = Readonly<Record<string, unknown>>;

const GROUP = { project: 'my-project', zone: 'us-central1-a', instance_group: 'velda-workers' };
const SERVICE = { project: 'my-project', region: 'us-central1', image: 'us-docker.pkg.dev/my-project/team/agent:1' };
const INSTANCE = { project: 'my-project', zone: 'us-central1-a', machine_type: 'e2-standard-4' };

function read(backend: Tree, trust: 'foreign' | 'operator' = 'foreign') {
  const text = JSON.stringify({ name: 'my-pool', auto_scaler: { backend, max_agents: 10 } });
  const { spec, problems = [] } = readPool(text, { kinds: gcp.backends, trust });
  return { spec, problems: problems.map(({ path, message }) => `${path}: ${message}`) };
}

const shapeOf = (backend: Tree): string | undefined => {
  const [offer] = read(backend, 'operator').spec?.offers ?? [];
  return offer && offerShapes(gcp.backends)(offer);
};

describe('the blocks of the seed', () => {
  it('as Terraform and gsutil write them', () => {
    const { spec, problems } = read({ gce_instance_group: GROUP });

    expect(problems).toEqual([]);
    expect(spec?.offers[0]).toMatchObject({
      kind: 'gce_instance_group',
      config: { project: 'my-project', zone: 'us-central1-a', instanceGroup: 'velda-workers', marks: 'metadata' },
    });
    expect(spec?.scaling).toMatchObject({ maxAgents: 10 });
  });

  it('with every key of the original, in either spelling', () => {
    expect(read({ gce_instance_group: { ...GROUP, instance_name_prefix: 'velda-' } }).problems).toEqual([]);
    expect(
      read({ gceInstanceGroup: { project: 'my-project', zone: 'us-central1-a', instanceGroup: 'velda-workers' } })
        .problems,
    ).toEqual([]);
  });
});

describe('what is refused in a document of others', () => {
  it.each([
    [{ endpoint: 'https://evil.example' }, "endpoint: endpoint may be set only in the operator's own file"],
    [{ region: 'us-central1' }, 'zone: exactly one of zone and region is needed'],
    [{ zone: undefined }, 'zone: exactly one of zone and region is needed'],
    [{ zone: 'us-central1' }, 'zone: must be a zone, like us-central1-a'],
    [{ instance_group: 'projects/p/x' }, 'instance_group: must be the name of a managed instance group alone'],
    [{ marks: 'labels' }, 'marks'],
    [{ instance_grup: 'x' }, 'instance_grup'],
  ])('gce_instance_group %j', (more, problem) => {
    const { problems } = read({ gce_instance_group: { ...GROUP, ...more } });

    expect(problems.join('\n')).toContain(problem);
  });

  it.each([
    [{ endpoint: 'https://evil.example' }, "endpoint: endpoint may be set only in the operator's own file"],
    [{ labels: { Team: 'ml' } }, 'labels.Team: "Team" is no key of a label: Google Cloud takes lower-case letters'],
    [{ labels: { team: 'M.L' } }, 'labels.team: "M.L" is no value of a label: Google Cloud takes lower-case letters'],
    [{ labels: { 'muster-pool': 'x' } }, 'labels.muster-pool: must not begin with muster-'],
    [{ metadata: { 'startup-script': 'id' } }, 'metadata.startup-script: is set by Muster; use startup_script'],
    [{ tags: ['A'] }, 'tags[0]: is no network tag'],
    [{ machine_type: 'zones/x/machineTypes/e2' }, 'machine_type: must be the name of a machine type'],
    [{ provisioning_model: 'preemptible' }, 'provisioning_model'],
  ])('gce_instance %j', (more, problem) => {
    const { problems } = read({ gce_instance: { ...INSTANCE, ...more } });

    expect(problems.join('\n')).toContain(problem);
  });

  it.each([
    [{ endpoint: 'https://evil.example' }, "endpoint: endpoint may be set only in the operator's own file"],
    [{ region: 'us-central1-a/x' }, 'region: must be a region, like us-central1'],
    [{ image: 'host/agent 1' }, 'image: must be an image'],
    [{ container_name: 'My_Box' }, 'container_name: must have only lower-case letters'],
    [{ cpu: 3 }, 'cpu'],
    [{ memory: '512' }, 'memory: must be a size like 512Mi or 2Gi'],
    [{ env: { PORT: '1' } }, 'env.PORT: is set by Cloud Run'],
    [{ env: { MUSTER_AGENT_CONFIG: 'x' } }, 'env.MUSTER_AGENT_CONFIG: is set by Muster; use agent_config'],
    [{ labels: { 'muster-pool': 'x' } }, 'labels.muster-pool: must not begin with muster-'],
  ])('gcp_cloud_run %j', (more, problem) => {
    const { problems } = read({ gcp_cloud_run: { ...SERVICE, ...more } });

    expect(problems.join('\n')).toContain(problem);
  });
});

it('limits and addresses form no machine; the rest does', () => {
  const shape = shapeOf({ gce_instance: INSTANCE });

  expect(shapeOf({ gce_instance: { ...INSTANCE, max_stopped_instances: 3 } })).toBe(shape);
  expect(shapeOf({ gce_instance: { ...INSTANCE, endpoint: 'http://127.0.0.1:1' } })).toBe(shape);
  expect(shapeOf({ gce_instance: { ...INSTANCE, machine_type: 'e2-small' } })).not.toBe(shape);
  expect(shapeOf({ gcp_cloud_run: { ...SERVICE, endpoint: 'http://127.0.0.1:1' } })).toBe(
    shapeOf({ gcp_cloud_run: SERVICE }),
  );
  expect(shapeOf({ gce_instance_group: { ...GROUP, endpoint: 'http://127.0.0.1:1' } })).toBe(
    shapeOf({ gce_instance_group: GROUP }),
  );
});
