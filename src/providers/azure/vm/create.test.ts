import { describe, expect, it } from 'vitest';
import { going } from '#core/testing/going.ts';
import { aBatch } from '../../../conformance/scene.ts';
import { computeOf, contextIn, GROUP, openBackend, openScene, remainsIn } from '../fake/testing.ts';

const PUT = 'management.vmPut';

describe('a creation', () => {
  it('makes machine, interface, address and disk in one request, all with the mark', async () => {
    const scene = openScene();
    const backend = await openBackend(scene, { tags: { team: 'ml' } });
    const launch = aBatch(1);
    const [name = ''] = launch.names;
    await scene.during(backend.create(launch, going()));
    const { vms, parts } = computeOf(scene);
    const tags = {
      'muster-cluster': 'cluster1',
      'muster-pool': 'pool1',
      'muster-shape': '0123456789ab',
      'muster-name': name,
      team: 'ml',
    };

    expect(scene.fake.countOf(PUT)).toBe(1);
    expect(vms.map((vm) => [vm.name, vm.tags])).toEqual([[name, tags]]);
    expect(parts.map((part) => [part.name, part.tags, part.goesAlong])).toEqual([
      [`${name}-nic`, tags, true],
      [`${name}-ip`, tags, true],
      [`${name}-os`, tags, true],
    ]);
  });

  it('has the script of the agent as custom data, and the notices of Azure only where it may be evicted', async () => {
    const scene = openScene();
    for (const market of ['on_demand', 'spot']) {
      const backend = await openBackend(scene, { market });
      await scene.during(backend.create({ ...aBatch(1, market), names: [`m-${market.replace('_', '-')}`] }, going()));
    }
    const scripts = computeOf(scene).vms.map(({ customData }) => Buffer.from(customData, 'base64').toString());

    expect(scripts.map((script) => script.includes('notices: azure'))).toEqual([false, true]);
    for (const script of scripts) {
      expect(script).toMatch(/^#!\/bin\/sh\n/);
      expect(script).toContain('mlt_secret');
    }
    expect(computeOf(scene).vms.map(({ properties }) => properties)).toMatchObject([
      { osProfile: { linuxConfiguration: { disablePasswordAuthentication: true } } },
      { priority: 'Spot', evictionPolicy: 'Delete', billingProfile: { maxPrice: -1 } },
    ]);
  });

  it('takes a machine of that name for its own only where it was made for the same pool', async () => {
    const scene = openScene();
    const launch = aBatch(2);
    await scene.during((await openBackend(scene)).create({ ...launch, names: [launch.names[0] ?? ''] }, going()));
    const other = { ...launch, mark: { ...launch.mark, owner: 'pool2' }, names: [launch.names[1] ?? ''] };
    await scene.during((await openBackend(scene)).create(other, going()));
    const outcomes = await scene.during((await openBackend(scene, {}, contextIn(scene))).create(launch, going()));

    expect(outcomes).toMatchObject([{ name: launch.names[0] }, { name: launch.names[1], fault: { kind: 'invalid' } }]);
    expect(outcomes[0]?.fault).toBeUndefined();
    expect(computeOf(scene).vms).toHaveLength(2);
  });

  it('that is refused for some machines is told for each, and nothing of the refused stays', async () => {
    const scene = openScene();
    computeOf(scene).stock.set('Standard_NC4as_T4_v3', 2);
    const outcomes = await scene.during((await openBackend(scene)).create(aBatch(5), going()));

    expect(outcomes.map(({ fault }) => fault?.kind)).toEqual([
      undefined,
      undefined,
      'exhausted',
      'exhausted',
      'exhausted',
    ]);
    expect(remainsIn(computeOf(scene))).toHaveLength(2 * 4);
  });
});

describe('a refusal', () => {
  const faultOf = async (config: object, prepare?: (scene: ReturnType<typeof openScene>) => void) => {
    const scene = openScene();
    prepare?.(scene);
    const [outcome] = await scene.during((await openBackend(scene, config)).create(aBatch(1), going()));
    return outcome?.fault;
  };

  it.each([
    [{ vmSize: 'Standard_NC4as_T4_v2' }, 'InvalidParameter', 'did you mean "Standard_NC4as_T4_v3"?'],
    [{ location: 'West Eurpe' }, 'LocationNotAvailableForResourceType', 'did you mean "westeurope"?'],
  ])('of %j names what Azure has', async (config, code, remedy) => {
    const fault = await faultOf(config);

    expect(fault).toMatchObject({ kind: 'invalid', message: expect.stringContaining(code) });
    expect(fault?.remedy).toContain(remedy);
  });

  it.each([
    ['SkuNotAvailable', 409, 'is not available', 'exhausted', 'offer another size'],
    ['ZonalAllocationFailed', 409, 'Allocation failed', 'exhausted', 'offer another size'],
    ['SpotPriceGreaterThanProvidedMaxPrice', 409, 'too low', 'exhausted', 'Raise spot_max_price'],
    ['QuotaExceeded', 409, 'too many', 'quota', 'az vm list-usage'],
    ['OperationNotAllowed', 409, 'exceeding approved Total Regional Cores quota', 'quota', 'az vm list-usage'],
    ['PublicIPCountLimitReached', 400, 'too many', 'quota', 'Raise the quota'],
    ['RequestDisallowedByPolicy', 403, 'by policy', 'denied', 'policy'],
    ['AuthorizationFailed', 403, 'may not', 'denied', 'the page of the provider azure'],
    ['ReadOnlyDisabledSubscription', 409, 'disabled', 'denied', 'Enable the subscription'],
  ])('with %s (%i: %s) is %s', async (code, status, message, kind, remedy) => {
    const fault = await faultOf({}, ({ fake }) =>
      fake.failureRules.add({ action: PUT, what: { kind: 'error', code, status, message } }),
    );

    expect(fault).toMatchObject({ kind, message: expect.stringContaining(code) });
    expect(fault?.remedy).toContain(remedy);
  });

  it('names the path in short', async () => {
    const fault = await faultOf(
      {},
      ({ fake }) => void fake.failureRules.add({ action: PUT, what: { kind: 'throttle' } }),
    );

    expect(fault?.message).toMatch(
      new RegExp(
        `^PUT /resourceGroups/${GROUP}/Compute/virtualMachines/m-\\S+ of Azure \\(management.azure.com\\) failed: 429`,
      ),
    );
  });
});

it('what Azure throttles is sent again no sooner than it says', async () => {
  const scene = openScene();
  scene.fake.failureRules.add({ action: PUT, what: { kind: 'throttle' } });
  const backend = await openBackend(scene);
  const [first] = await scene.during(backend.create(aBatch(1), going()));
  await scene.during(backend.create(aBatch(1), going()));

  expect(first?.fault).toMatchObject({ kind: 'throttled', retryAfterMs: 1_000 });
  const [firstMs = 0, secondMs = 0] = scene.fake.calls.flatMap(({ action, atMs }) => (action === PUT ? [atMs] : []));
  expect(secondMs - firstMs).toBeGreaterThanOrEqual(1_000);
});

it('tells what a machine costs, for Linux, on demand and as spot', async () => {
  const scene = openScene();
  const priceOf = async (config: object) =>
    scene.during((await openBackend(scene, config)).pricePerHour?.(going()) ?? Promise.reject());

  expect([
    await priceOf({}),
    await priceOf({ market: 'spot' }),
    await priceOf({ vmSize: 'Standard_of_tomorrow' }),
  ]).toEqual([0.526, 0.11, undefined]);
});

it('asks for no prices where Azure is simulated', async () => {
  const scene = openScene();
  const simulated = await openBackend(scene, { endpoint: 'http://127.0.0.1:4567' });

  expect(await scene.during(simulated.pricePerHour?.(going()) ?? Promise.reject())).toBeUndefined();
});
