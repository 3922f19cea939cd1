import { EC2Client, StopInstancesCommand } from '@aws-sdk/client-ec2';
import { describe, expect, it } from 'vitest';
import { parse } from 'yaml';
import { HOUR_MS, MINUTE_MS, SECOND_MS } from '#core/clock.ts';
import { AWS_SLICE, REGION } from '../providers/aws/fake/slice/testing.ts';
import { requestHandler } from '../providers/aws/http.ts';
import type { AWSProvisioner } from './classes.ts';
import { FIXTURES, LOSSES } from './testing/fixtures.ts';
import { type LibraryWorld, openLibraryWorld } from './testing/world.ts';
import { TimeoutError } from './timeout-error.ts';

const said = ({ lines }: LibraryWorld, level: string): string[] =>
  lines.filter(([each]) => each === level).map(([, text]) => text);

describe.each(FIXTURES)('$title', ({ harness, make, remains, creation, deletion, denied, ...fixture }) => {
  const open = () => openLibraryWorld(harness, fixture.world);

  it('is set up, runs, and leaves nothing when it is torn down', async () => {
    const world = await open();
    const box = make(world.script(), { log: world.log });
    expect(box.getStatus()).toBe('not_started');

    const setup = box.setup();
    expect(box.getStatus()).toBe('starting');
    await world.during(setup);
    expect(box.getStatus()).toBe('running');
    expect(await world.during(box.isRunning())).toBe(true);
    expect(world.cloud.fake.countOf(creation)).toBe(1);

    const teardown = box.teardown();
    expect(box.getStatus()).toBe('stopping');
    await world.during(teardown);
    expect(box.getStatus()).toBe('stopped');
    expect(await world.during(box.isRunning())).toBe(false);
    expect(remains(world)).toEqual([]);
  });

  it('comes up after two refusals, as one machine, with a warning for each', async () => {
    const world = await open();
    world.cloud.fake.failureRules.add({ action: creation, times: 2, what: denied });
    const box = make(world.script(), { log: world.log });

    await world.during(box.setup());

    expect(said(world, 'warn').filter((line) => /Error, retrying \([12]\/3\): /.test(line))).toHaveLength(2);
    expect(world.cloud.fake.countOf(creation)).toBe(3);
    await world.during(box.teardown());
    expect(remains(world)).toEqual([]);
  });

  it('fails after the last refusal, says so, and leaves nothing', async () => {
    const world = await open();
    world.cloud.fake.failureRules.add({ action: creation, times: 9, what: denied });
    const box = make(world.script(), { log: world.log });

    await expect(world.during(box.setup())).rejects.toThrow(/^Failed after 3 attempts: /);

    expect(box.getStatus()).toBe('error');
    expect(said(world, 'error')).toEqual([expect.stringMatching(/^\w+Provisioner: Failed after 3 attempts: /)]);
    expect(world.cloud.fake.countOf(creation)).toBe(3);
    expect(remains(world)).toEqual([]);
  });

  it.each(LOSSES)('is made once in spite of a %s', async (kind) => {
    const world = await open();
    world.cloud.fake.failureRules.add({ action: creation, what: { kind } });
    const box = make(world.script());

    await world.during(box.setup());
    expect(new Set(remains(world).map((one) => one.split(' ').at(-1))).size).toBe(1);
    await world.during(box.teardown());
    expect(remains(world)).toEqual([]);
  });

  it('that never answers times out, is not made a second time, and leaves nothing', async () => {
    const world = await open();
    world.answers = () => false;
    const box = make(world.script(), { log: world.log, timeout: 120 });

    const failure = await world.during(box.setup()).catch((thrown) => thrown);

    expect(failure).toBeInstanceOf(TimeoutError);
    expect(failure.message).toMatch(/^Operation timed out: GET \/health does not answer at https?:\/\/\w\S+/);
    expect(box.getStatus()).toBe('error');
    expect(world.cloud.fake.countOf(creation)).toBe(1);
    expect(remains(world)).toEqual([]);
  });

  it.each([0, 50, 5 * SECOND_MS])('is torn down %i ms after the begin of its setup', async (afterMs) => {
    const world = await open();
    world.answers = () => false;
    const box = make(world.script());

    const setup = box.setup();
    setup.catch(() => {});
    await world.clock.advance(afterMs);
    await world.during(box.teardown());

    await expect(world.during(setup)).rejects.toMatchObject({ kind: 'conflict' });
    expect(box.getStatus()).toBe('stopped');
    expect(remains(world)).toEqual([]);
  });

  it('is found by the next run when a script was killed, before and after it ran', async () => {
    const world = await open();
    const first = world.script();
    void make(first).setup();
    await world.clock.advance(SECOND_MS);
    first.kill();

    const second = world.script();
    const box = make(second, { log: world.log });
    await world.clock.advance(20 * MINUTE_MS);
    await world.during(box.setup());
    second.kill();
    const third = make(world.script());
    expect(third.getStatus()).toBe('not_started');
    expect(await world.during(third.isRunning())).toBe(true);
    await world.during(third.setup());

    expect(world.cloud.fake.countOf(creation)).toBe(1);
    await world.during(third.teardown());
    expect(remains(world)).toEqual([]);
  });

  it('is made once and leaves nothing when its script is killed after any write or call, and the next one tears it down', async () => {
    for (let diesAt = 1, isDead = true; isDead; diesAt++) {
      const world = await open();
      const script = world.script({ diesAt });
      const box = make(script);
      const setup = box.setup();
      setup.catch(() => {});
      await world.clock.advance(MINUTE_MS);
      isDead = script.isDead;
      script.kill();

      const next = make(world.script());
      if (diesAt % 2 === 0) {
        await world.during(next.setup());
        expect(world.ours(), `set up after point ${diesAt}`).toHaveLength(1);
      }
      await world.during(next.teardown());
      expect(remains(world), `killed after point ${diesAt}`).toEqual([]);
      const made = world.cloud.machines().filter(({ mark }) => mark !== undefined);
      expect(made.length, `made after point ${diesAt}`).toBeLessThanOrEqual(fixture.makesAnew ? 2 : 1);
    }
  });

  it('whose teardown is refused throws, and the next run finishes it', async () => {
    const world = await open();
    const first = world.script();
    const box = make(first, { timeout: 120, log: world.log });
    await world.during(box.setup());
    const heal = world.cloud.fake.failureRules.add({ action: deletion, times: 1_000, what: denied });

    await expect(world.during(box.teardown())).rejects.toBeInstanceOf(TimeoutError);
    expect(box.getStatus()).toBe('error');
    first.kill();
    heal();
    await world.during(make(world.script()).teardown());

    expect(remains(world)).toEqual([]);
  });

  it('tells its machine its port and when it ends, and gives it no token', async () => {
    const world = await open();
    const atMs = world.clock.now();
    const box = make(world.script(), { ttl: '8h', port: 9000 });
    await world.during(box.setup());
    const file = parse(fixture.agentFile(world));

    expect(file).toMatchObject({ serve: 9000, broker: {} });
    expect(file).not.toHaveProperty('joinToken');
    if (fixture.isEndedByCloud) {
      await world.clock.advance(9 * HOUR_MS);
      expect(remains(world)).toEqual([]);
    } else {
      expect(Date.parse(String(file.endsAt)) - atMs).toBeGreaterThanOrEqual(8 * HOUR_MS);
      expect(Date.parse(String(file.endsAt)) - atMs).toBeLessThan(9 * HOUR_MS);
    }
  });

  it('is removed by the first run after its end', async () => {
    const world = await open();
    const script = world.script();
    await world.during(make(script, { ttl: '1h' }).setup());
    script.kill();

    await world.clock.advance(2 * HOUR_MS);
    const next = make(world.script());
    await world.during(next.isRunning());
    await world.during(next.teardown());

    expect(remains(world)).toEqual([]);
  });

  it('is looked at every 5 seconds while it starts', async () => {
    const world = await open();
    world.answers = () => false;
    const box = make(world.script(), { timeout: 62 });
    await world.during(box.setup()).catch(() => {});
    const [first] = world.probes;
    const asked = world.probes.filter((url) => url === first).length;

    expect(asked).toBeGreaterThanOrEqual(8);
    expect(asked).toBeLessThanOrEqual(13);
  });
});

describe('on EC2', () => {
  const [aws] = FIXTURES;

  it('an instance that is stopped outside runs no more, and its setup says so', async () => {
    const world = await openLibraryWorld(AWS_SLICE);
    const box = aws?.make(world.script(), { timeout: 60 }) as AWSProvisioner;
    await world.during(box.setup());

    const ec2 = new EC2Client({ region: REGION, requestHandler: requestHandler(world.cloud.fake.fetch) });
    await world.during(ec2.send(new StopInstancesCommand({ InstanceIds: world.ours().map(({ id }) => id) })));
    await world.clock.advance(MINUTE_MS);

    expect(await world.during(box.isRunning())).toBe(false);
    expect(box.getStatus()).not.toBe('running');
    await world.during(box.teardown());
    expect(world.ours()).toEqual([]);
  });
});
