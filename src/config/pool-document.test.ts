// biome-ignore-all lint/suspicious/noTemplateCurlyInString: variables as users write them.
import { describe, expect, it } from 'vitest';
import { offerOf } from './offers.ts';
import { type PoolReading, readPool } from './pool-document.ts';
import { describeProblem } from './problem.ts';
import { standInKinds, testEnvironment } from './testing.ts';
import { nodeOf } from './tree.ts';

const kinds = standInKinds.backends;
const environment = testEnvironment({ MAX: '4', TOKEN: 'tok-123' }, { '/run/token': 'filed' });
const asOperator = (text: string): PoolReading => readPool(text, { kinds, trust: 'operator', expand: environment });
const asForeigner = (text: string): PoolReading => readPool(text, { kinds, trust: 'foreign', expand: environment });
const problemsOf = (read: PoolReading): readonly string[] | undefined =>
  read.problems?.map((problem) => describeProblem(problem));

const DEFAULT_SCALING = {
  mode: 'standard',
  minAgents: 0,
  maxAgents: 0,
  minIdleSlots: 0,
  maxIdleSlots: 0,
  idleDecayMs: 0,
  syncEveryMs: 60_000,
  killUnknownAfterMs: 0,
  slotsPerAgent: 1,
  retryDelayMs: 60_000,
  errorResetAfterMs: 90_000,
  bootTimeoutMs: 900_000,
};

describe('readPool', () => {
  it('fills in what a document leaves out', () => {
    expect(asForeigner('name: a\nauto_scaler: {}').spec).toEqual({
      name: 'a',
      offers: [],
      updatePolicy: 'replace_idle',
      scaling: DEFAULT_SCALING,
      drainTimeoutMs: 3_600_000,
      agentAuth: 'token',
      agentNetworks: [],
      labels: {},
    });
  });

  it.each(['a.b_C:d/é', 'aws:p3.2xlarge', 'x'.repeat(200)])('takes the name %s', (name) => {
    expect(asForeigner(JSON.stringify({ name })).spec?.name).toBe(name);
  });

  it.each(['"x\\ud800"', '.', '..'])('refuses the name %s, which no address of the API can carry', (name) => {
    const text = `{"name":${name.startsWith('"') ? name : JSON.stringify(name)}}`;

    expect(problemsOf(asForeigner(text))).toEqual([expect.stringContaining('name: must')]);
    expect(problemsOf(asForeigner(` ${text}`))).toEqual([expect.stringContaining('name: must')]);
  });

  it('takes every key, in either spelling', () => {
    const scaler = {
      backend: { aws_launch_template: { instance_type: 'p3.2xlarge', tags: { Some_Tag: 'x' } } },
      max_agents: 20,
      min_agents: '1',
      min_idle_agents: 2,
      max_idle_agents: 5,
      idle_decay: '90s',
      initial_delay: '30s',
      sync_loop_interval: '2m',
      kill_unknown_after: '1h',
      default_slots_per_agent: 2,
      mode: 'MODE_BATCH',
      metadata: { description: 'GPUs' },
      scale_up_error_retry_delay: '10s',
      allocation_error_reset_after: '45s',
    };
    const own = {
      labels: { gpu: 'v100', count: 1 },
      boot_timeout: '20m',
      drain_timeout: '2h',
      agent_auth: 'mtls',
      update_policy: 'rolling',
    };
    const camel = (key: string): string => key.replace(/_(.)/g, (_, letter: string) => letter.toUpperCase());
    const inCamel = (map: object): object =>
      Object.fromEntries(Object.entries(map).map(([key, value]) => [camel(key), value]));

    const snake = readPool(nodeOf({ name: 'gpu', ...own, auto_scaler: scaler }), { kinds, trust: 'foreign' });
    const other = readPool(nodeOf({ name: 'gpu', ...inCamel(own), autoScaler: inCamel(scaler) }), {
      kinds,
      trust: 'foreign',
    });

    expect(other.spec).toEqual(snake.spec);
    expect(snake.spec).toEqual({
      name: 'gpu',
      description: 'GPUs',
      offers: [
        {
          id: expect.stringMatching(/^[0-9a-f]{12}$/),
          kind: 'aws_launch_template',
          config: { instanceType: 'p3.2xlarge', tags: { Some_Tag: 'x' }, securityGroupIds: [], maxStoppedInstances: 0 },
        },
      ],
      updatePolicy: 'rolling',
      scaling: {
        mode: 'batch',
        minAgents: 1,
        maxAgents: 20,
        minIdleSlots: 2,
        maxIdleSlots: 5,
        idleDecayMs: 90_000,
        initialDelayMs: 30_000,
        syncEveryMs: 120_000,
        killUnknownAfterMs: 3_600_000,
        slotsPerAgent: 2,
        retryDelayMs: 10_000,
        errorResetAfterMs: 45_000,
        bootTimeoutMs: 1_200_000,
      },
      drainTimeoutMs: 7_200_000,
      agentAuth: 'mtls',
      agentNetworks: [],
      labels: { gpu: 'v100', count: '1' },
    });
  });

  it.each([
    ['a bare name', 'name: a'],
    ['no backend', 'name: a\nauto_scaler: {max_agents: 5}'],
    ['an empty backend key', 'name: a\nauto_scaler: {backend: , max_agents: 5}'],
  ])('makes a manual pool of %s', (_, text) => {
    expect(asForeigner(text).spec?.offers).toEqual([]);
  });

  it.each([
    ['max_idle below min_idle', 'min_idle_agents: 3', { minIdleSlots: 3, maxIdleSlots: 3 }],
    ['max_idle below a whole worker', 'min_idle_agents: 3, default_slots_per_agent: 4', { maxIdleSlots: 6 }],
    ['no slots', 'default_slots_per_agent: 0', { slotsPerAgent: 1 }],
    ['no sync interval', 'sync_loop_interval: 0s', { syncEveryMs: 60_000 }],
    ['no retry delay', 'scale_up_error_retry_delay: 0', { retryDelayMs: 60_000, errorResetAfterMs: 90_000 }],
    ['an unspecified mode', 'mode: MODE_UNSPECIFIED', { mode: 'standard' }],
    ['another retry delay', 'scale_up_error_retry_delay: 5s', { errorResetAfterMs: 35_000 }],
  ])('corrects %s silently', (_, scaler, scaling) => {
    const { spec, warnings } = asForeigner(
      `name: a\nauto_scaler: {backend: {aws_launch_template: {region: eu}}, ${scaler}}`,
    );

    expect(spec?.scaling).toMatchObject(scaling);
    expect(warnings).toEqual([]);
  });

  it('warns of limits that launch and remove a worker for each session, or have no effect, at their place', () => {
    const warned = (scaler: string, backend = 'backend: {aws_launch_template: {region: eu}}, '): object[] => [
      ...asForeigner(`name: a\nauto_scaler: {${backend}${scaler}}`).warnings,
    ];

    expect(warned('max_agents: 9, min_idle_agents: 1')).toMatchObject([
      { path: 'auto_scaler.min_idle_agents', line: 2, message: expect.stringContaining('set max_idle_agents to 2') },
    ]);
    expect(warned('max_agents: 9, idle_decay: 5m')).toMatchObject([{ path: 'auto_scaler.idle_decay', line: 2 }]);
    expect(warned('max_agents: 9', '')).toMatchObject([{ path: 'auto_scaler.max_agents', line: 2 }]);
    expect(warned('max_agents: 9, min_idle_agents: 1, max_idle_agents: 2, idle_decay: 5m')).toEqual([]);
  });

  it.each([
    [
      'an unknown key',
      'name: a\nauto_scaler: {max_agnets: 3}',
      '2:15: auto_scaler.max_agnets: is not a known key; did you mean max_agents?',
    ],
    ['no name', 'auto_scaler: {}', '1:1: name: is missing'],
    ['an empty name', 'name: ""', '1:7: name: must not be empty'],
    ['a number for a name', 'name: 5', '1:7: name: must be text, not the number 5'],
    ['spaces around the name', 'name: " a"', '1:7: name: must not contain control characters, or spaces at its ends'],
    [
      'a line break in the name',
      'name: "a\\nb"',
      '1:7: name: must not contain control characters, or spaces at its ends',
    ],
    ['a negative number', 'name: a\nauto_scaler: {max_agents: -1}', '2:27: auto_scaler.max_agents: must be at least 0'],
    ['a negative time', 'name: a\nauto_scaler: {idle_decay: -1s}', '2:27: auto_scaler.idle_decay: must be at least 0s'],
    [
      'minimum above maximum',
      'name: a\nauto_scaler: {min_agents: 5, max_agents: 3}',
      '2:27: auto_scaler.min_agents: is 5, above max_agents 3',
    ],
    [
      'an unknown backend',
      'name: a\nauto_scaler: {backend: {aws_lunch_template: {}}}',
      '2:25: auto_scaler.backend.aws_lunch_template: is not a known backend; did you mean aws_launch_template?',
    ],
    [
      'no kind of backend',
      'name: a\nauto_scaler: {backend: {}}',
      expect.stringMatching(/^2:24: auto_scaler.backend: name one backend: aws_launch_template, command, /),
    ],
    [
      'two backends',
      'name: a\nauto_scaler: {backend: {aws_launch_template: {}, nebius_launch_template: {}}}',
      '2:24: auto_scaler.backend: names aws_launch_template and nebius_launch_template; keep one backend',
    ],
    [
      'a bad setting of the backend',
      'name: a\nauto_scaler: {backend: {gceInstanceGroup: {project: p, zone: z}}}',
      '2:43: auto_scaler.backend.gceInstanceGroup.instance_group: is missing',
    ],
    [
      'a typo in the settings of the backend',
      'name: a\nauto_scaler: {backend: {aws_launch_template: {instanceTyp: x}}}',
      '2:47: auto_scaler.backend.aws_launch_template.instanceTyp: is not a known key; did you mean instanceType?',
    ],
    [
      'network without networks',
      'name: a\nagent_auth: network',
      '1:1: agent_networks: is required with agent_auth: network, like [10.0.0.0/8]',
    ],
    [
      'a bad network',
      'name: a\nagent_auth: network\nagent_networks: [10.0.0.0/33]',
      '3:18: agent_networks[0]: must be a network like 10.0.0.0/8',
    ],
    [
      'an unknown way to prove oneself',
      'name: a\nagent_auth: tokne',
      '2:13: agent_auth: must be one of token, mtls, machine, network; did you mean token?',
    ],
    ['no time to boot', 'name: a\nboot_timeout: 0s', '2:15: boot_timeout: must be at least 1s'],
    [
      'both forms of backends',
      'name: a\nauto_scaler: {backend: {aws_launch_template: {}}, backends: [{nebius_launch_template: {}}]}',
      '2:61: auto_scaler.backends: cannot be combined with backend; keep one of them',
    ],
    [
      'one backend twice',
      'name: a\nauto_scaler: {backends: [{aws_launch_template: {}}, {aws_launch_template: {}, max_agents: 2}]}',
      '2:53: auto_scaler.backends[1]: is the same as backends[0]; keep one of them',
    ],
    [
      'a limit in dollars with one backend alone',
      'name: a\nauto_scaler: {backend: {aws_launch_template: {}}, max_price_per_hour: 5}',
      '2:71: auto_scaler.max_price_per_hour: needs a price: write backends: [{…, price_per_hour: 1.25}] instead of backend',
    ],
    [
      'a limit in dollars without a price',
      'name: a\nauto_scaler: {max_price_per_hour: 5, backends: [{aws_launch_template: {}}]}',
      '2:49: auto_scaler.backends[0].price_per_hour: is required with max_price_per_hour',
    ],
    [
      'a price below nothing',
      'name: a\nauto_scaler: {backends: [{aws_launch_template: {}, price_per_hour: -1}]}',
      '2:68: auto_scaler.backends[0].price_per_hour: must be at least 0',
    ],
    [
      'an unknown update policy',
      'name: a\nupdate_policy: replace_idel',
      '2:16: update_policy: must be one of keep, replace_idle, rolling; did you mean replace_idle?',
    ],
    ['nothing at all', '', 'the document must be a map of keys, not empty'],
  ])('refuses %s', (_, text, problem) => {
    expect(problemsOf(asForeigner(text))).toEqual([problem]);
  });

  it('tells bounds and typing errors at once', () => {
    expect(
      problemsOf(asForeigner('name: a\nauto_scaler: {min_agents: 5, max_agents: 3, idle_decay: x, backend: {}}')),
    ).toHaveLength(3);
  });

  it('keeps several backends in the order to try them', () => {
    const { spec } = asForeigner(
      'name: a\nauto_scaler: {backends: [{aws_launch_template: {region: eu}}, {aws_launch_template: {region: us}}]}',
    );

    expect(spec?.offers.map(({ config }) => config.region)).toEqual(['eu', 'us']);
  });

  it('keeps the terms of each backend apart from what forms its machines', () => {
    const { spec } = asForeigner(
      'name: a\nauto_scaler: {max_price_per_hour: 10, backends: [{aws_launch_template: {region: eu}, price_per_hour: 3.06, max_agents: 2}, {aws_launch_template: {region: us}, price_per_hour: 1}]}',
    );
    const [eu = '', us = ''] = spec?.offers.map(({ id }) => id) ?? [];

    expect(spec?.terms).toEqual({ [eu]: { pricePerHour: 3.06, maxAgents: 2 }, [us]: { pricePerHour: 1 } });
    expect(spec?.scaling.maxPricePerHour).toBe(10);
    expect(spec?.offers[0]).toEqual(
      asForeigner('name: a\nauto_scaler: {backend: {aws_launch_template: {region: eu}}}').spec?.offers[0],
    );
  });

  it('warns of what is probably not meant', () => {
    expect(
      asForeigner('name: a\nauto_scaler: {backend: {aws_launch_template: {}}, max_agents: 2, min_idle_agents: 5}')
        .warnings,
    ).toMatchObject([{ path: 'auto_scaler.min_idle_agents', line: 2 }]);
    expect(
      asForeigner('name: a\nagent_auth: network\nagent_networks: [10.0.0.0/8, "fd00::/8"]').warnings,
    ).toMatchObject([{ path: 'agent_auth' }]);
    expect(asForeigner('name: a\nagent_networks: [10.0.0.0/8]').warnings).toMatchObject([{ path: 'agent_networks' }]);
    expect(
      asForeigner('name: a\nauto_scaler: {backend: {aws_launch_template: {}}, max_agents: 0, min_idle_agents: 5}')
        .warnings,
    ).toEqual([]);
  });
});

describe('offers', () => {
  const idOf = (backend: string): string | undefined =>
    asOperator(`name: a\nauto_scaler: {backend: ${backend}}`).spec?.offers[0]?.id;

  it('have one id for one meaning, however it is written', () => {
    const id = idOf('{aws_launch_template: {region: eu, instance_type: x}}');

    expect(idOf('{awsLaunchTemplate: {instanceType: x, region: eu, maxStoppedInstances: "0"}}')).toBe(id);
    expect(idOf('{aws_launch_template: {region: eu, instance_type: y}}')).not.toBe(id);
  });

  it('do not depend on the order of free maps', () => {
    expect(idOf('{aws_launch_template: {tags: {a: 1, b: 2}}}')).toBe(
      idOf('{aws_launch_template: {tags: {b: 2, a: 1}}}'),
    );
  });

  it('have ids of their own for each kind', () => {
    expect(offerOf({ kind: 'a', config: {} }).id).not.toBe(offerOf({ kind: 'b', config: {} }).id);
    expect(idOf('{process: {}}')).not.toBe(idOf('{aws_launch_template: {}}'));
  });
});

describe('trust', () => {
  it('lets only the operator name kinds that act on the server', () => {
    const text = 'name: a\nauto_scaler: {backend: {command: {start: "echo ${X}", bogus: 1}}}';

    expect(problemsOf(asForeigner(text))).toEqual([
      "2:34: auto_scaler.backend.command: the backend command runs on the server itself, so only the operator's own file may use it",
    ]);
    expect(asOperator(text.replace(', bogus: 1', '')).spec?.offers[0]?.config).toEqual({
      start: 'echo ${X}',
      timeout: 60_000,
    });
  });

  it('says why even where the kind stands without settings', () => {
    expect(problemsOf(asForeigner('name: a\nauto_scaler: {backend: {process: }}'))).toEqual([
      expect.stringMatching('backend process runs on the server itself'),
    ]);
  });

  it('lets a kind without settings stand alone', () => {
    expect(asOperator('name: a\nauto_scaler:\n  backend:\n    process:\n').spec?.offers).toMatchObject([
      { kind: 'process', config: {} },
    ]);
  });

  it('expands variables and secret files for the operator alone', () => {
    const text =
      'name: a\nauto_scaler: {backend: {mithril_spot_bid: {region: r, limit_price: 1, api_token: "file:/run/token"}}, max_agents: "${MAX}"}';

    expect(asOperator(text).spec).toMatchObject({
      offers: [{ config: { apiToken: 'filed' } }],
      scaling: { maxAgents: 4 },
    });
    expect(problemsOf(asForeigner(text))).toEqual([
      expect.stringMatching(/api_token: file: works only in the operator's own file/),
      expect.stringMatching(/max_agents: \$\{MAX\} is expanded only in the operator's own file/),
    ]);
  });
});
