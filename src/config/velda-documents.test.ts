// biome-ignore-all lint/suspicious/noTemplateCurlyInString: variables as users write them.
// What users of Velda have written, as it stands: it must be read without a change.
import { describe, expect, it } from 'vitest';
import { readPool } from './pool-document.ts';
import { describeProblem } from './problem.ts';
import { readServerFile, type ServerConfig } from './server-file.ts';
import { standInKinds, testEnvironment } from './testing.ts';

const environment = testEnvironment({ MITHRIL_API_TOKEN: 'mithril-token', DIGITALOCEAN_API_TOKEN: 'do-token' });

function readWhole(text: string): ServerConfig {
  const { value, problems = [] } = readServerFile(text, { kinds: standInKinds, environment });
  expect(problems.map((problem) => describeProblem(problem))).toEqual([]);
  return value as ServerConfig;
}

const SOURCES: readonly (readonly [string, string, object])[] = [
  [
    'aws',
    `
provisioners:
  - aws:
      region: "us-west-2"
      config_prefix: "/velda/pools/"
      update_interval: "60s"
`,
    { id: 'aws:us-west-2:/velda/pools/', place: 'us-west-2:/velda/pools/', everyMs: 60_000 },
  ],
  [
    'aws without a region',
    'provisioners:\n  - aws:\n      config_prefix: "/velda/pools/"\n',
    { id: 'aws:/velda/pools/' },
  ],
  [
    'gcs',
    `
provisioners:
  - gcs:
      bucket: "velda-pool-configs"
      config_prefix: "pools/"
      update_interval: "120s"
`,
    { id: 'gcs:velda-pool-configs:pools/', everyMs: 120_000 },
  ],
  [
    'kubernetes',
    `
provisioners:
  - kubernetes:
      namespace: "velda-system"
      gke:
        project: "my-gcp-project"
        location: "us-central1"
        cluster_name: "velda-cluster"
`,
    { id: 'kubernetes:velda-system', config: { gke: { clusterName: 'velda-cluster' } } },
  ],
  [
    'aws_auto',
    `
provisioners:
  - aws_auto:
      pool_prefix: "aws"
      template:
        region: "us-west-2"
        subnet_id: "subnet-abc123"
        security_group_ids:
          - "sg-xyz789"
        ami_name: "velda-agent-*"
      instance_type_prefixes:
        - "p3."
        - "p4."
        - "g4dn."
      autoscaler_config:
        max_agents: 10
        min_idle_agents: 0
        max_idle_agents: 2
`,
    { id: 'aws_auto', config: { template: { amiName: 'velda-agent-*' }, autoscalerConfig: { maxIdleAgents: 2 } } },
  ],
  [
    'nebius_auto',
    `
provisioners:
  - nebius_auto:
      parent_id: "folder-abc123"
      subnet_id: "subnet-xyz"
      use_public_ip: true
      admin_ssh_key: "ssh-rsa AAAAB3..."
      autoscaler_config:
        max_agents: 5
        min_idle_agents: 0
      pool_details:
        - pool_name: "h200-1gpu"
          platform: "gpu-h200-hxm"
          resource_preset: "1gpu-16vcpu-200gb"
          description: "Single H200 GPU"
        - pool_name: "h200-8gpu"
          platform: "gpu-h200-hxm"
          resource_preset: "8gpu-128vcpu-1600gb"
          description: "8x H200 GPU"
          autoscaler_config:
            max_agents: 2
`,
    { config: { usePublicIp: true, poolDetails: [{ poolName: 'h200-1gpu' }, { autoscalerConfig: { maxAgents: 2 } }] } },
  ],
  [
    'mithril_auto',
    `
provisioners:
  - mithril_auto:
      project_id: "proj_abc123"
      region: "us-west-2"
      api_token: "\${MITHRIL_API_TOKEN}"
      ssh_key_ids:
        - "key_xyz"
      autoscaler_config:
        max_agents: 5
        min_idle_agents: 0
      pool_details:
        - pool_name: "h100-8x"
          instance_type: "8xh100"
          limit_price: 4.50
          description: "8x H100 spot instances"
        - pool_name: "a100-8x"
          instance_type: "8xa100"
          limit_price: 3.20
          description: "8x A100 spot instances"
      max_suspended_bids: 2
`,
    {
      config: {
        apiToken: 'mithril-token',
        maxSuspendedBids: 2,
        poolDetails: [{ limitPrice: 4.5 }, { limitPrice: 3.2 }],
      },
    },
  ],
  [
    'digitalocean_auto',
    `
provisioners:
  - digitalocean_auto:
      region: "atl1"
      api_token: "\${DIGITALOCEAN_API_TOKEN}"
      ssh_key_ids:
        - 12345678
      autoscaler_config:
        max_agents: 10
        min_idle_agents: 1
      pool_details:
        - pool_name: "mi300x-1gpu"
          size: "gpu-mi300x1-192gb-devcloud"
          image: "amd-rocm71software"
          description: "Single MI300X GPU"
`,
    { config: { apiToken: 'do-token', sshKeyIds: [12345678] } },
  ],
];

describe('the server file of Velda', () => {
  it.each(SOURCES)('is read with the provisioner %s', (_, text, source) => {
    expect(readWhole(text).sources).toMatchObject([source]);
  });

  it('may have pools that are mere names, pools without a backend, and sources beside them', () => {
    const bare = readWhole('agent_pools:\n  - name: pool1\n    # ...\n  - name: pool2\n    # ...\n');
    const mixed = readWhole(`
agent_pools:
  - name: "critical-pool"
    auto_scaler:
      max_agents: 5
      # ...
provisioners:
  - aws:
      config_prefix: "/velda/pools/"
`);

    expect(bare.pools.map(({ spec }) => [spec.name, spec.offers])).toEqual([
      ['pool1', []],
      ['pool2', []],
    ]);
    expect(mixed.pools[0]?.spec).toMatchObject({ name: 'critical-pool', offers: [], scaling: { maxAgents: 5 } });
  });

  it('is accepted whole, with one warning for each key that has no effect here', () => {
    const { value, warnings } = readServerFile(
      `
server: {grpc_address: ":50051", http_address: "0.0.0.0:8081", cert_spiffe_id: "spiffe://x"}
storage: {zfs: {pool: tank, max_disk_size_gb: "100"}}
log_storage: {log_dir: /var/log/velda}
file_content_server: {address: ":7655", workers: 4}
ssh_connector: {ssh_user: ubuntu, connect_timeout: 20s}
allow_new_pool: true
default_broker_info: {address: "10.0.0.1:50051", public_address: "https://velda.example.com"}
agent_pools: [{name: shell}]
`,
      { kinds: standInKinds, environment },
    );

    expect(value).toMatchObject({
      grpc: { host: undefined, port: 50_051 },
      http: { host: '0.0.0.0', port: 8081 },
      allowNewPool: true,
      broker: { address: '10.0.0.1:50051', publicAddress: ['https://velda.example.com'] },
    });
    expect(warnings.map(({ path }) => path)).toEqual([
      'server.cert_spiffe_id',
      'storage',
      'log_storage',
      'file_content_server',
      'ssh_connector',
    ]);
  });
});

describe('a pool document of Velda', () => {
  it.each([
    [
      'written by Terraform for AWS',
      '{"auto_scaler":{"backend":{"aws_launch_template":{"ami_id":"ami-1","instance_type":"p3.2xlarge","launch_template_name":"velda-gpu-workers","region":"us-west-2","security_group_ids":["sg-1"],"subnet_id":"subnet-1"}},"max_agents":20,"max_idle_agents":5,"min_idle_agents":2},"name":"gpu-pool"}',
      {
        name: 'gpu-pool',
        scaling: { maxAgents: 20, minIdleSlots: 2, maxIdleSlots: 5 },
        offers: [{ config: { subnetId: 'subnet-1' } }],
      },
    ],
    [
      'with nothing but an instance type',
      '{\n    "name": "my-pool",\n    "auto_scaler": {\n      "backend": {\n        "aws_launch_template": {\n          "region": "us-west-2",\n          "instance_type": "p3.2xlarge"\n        }\n      },\n      "max_agents": 10\n    }\n  }',
      { name: 'my-pool', offers: [{ kind: 'aws_launch_template' }] },
    ],
    [
      'for an instance group',
      '{\n  "name": "my-pool",\n  "auto_scaler": {\n    "backend": {\n      "gce_instance_group": {\n        "project": "my-project",\n        "zone": "us-central1-a",\n        "instance_group": "velda-workers"\n      }\n    },\n    "max_agents": 10\n  }\n}\n',
      { offers: [{ kind: 'gce_instance_group', config: { instanceGroup: 'velda-workers' } }] },
    ],
    [
      'printed by yq during a migration',
      'name: cpu-pool\nauto_scaler:\n  backend:\n    aws_launch_template:\n      launch_template_name: velda-cpu-workers\n  max_agents: 50\n  min_idle_agents: 5\n',
      { name: 'cpu-pool', scaling: { minIdleSlots: 5, maxIdleSlots: 5 } },
    ],
  ])('is read when %s', (_, text, spec) => {
    const read = readPool(text, { kinds: standInKinds.backends, trust: 'foreign' });

    expect(read.problems).toBeUndefined();
    expect(read.spec).toMatchObject(spec);
  });
});
