// When a computer ends by itself, and what of its credentials anyone can see.
import { expect } from 'vitest';
import { MINUTE_MS } from '#core/clock.ts';
import {
  type ComputerLaw,
  type ComputerScene,
  CREDENTIAL,
  callerAt,
  computersIn,
  create,
  everMade,
  expectNothingLeft,
  expectRemoved,
  machinesOf,
  openScene,
  statusIn,
} from './computers-world.ts';
import { demand } from './demand.ts';

const LATE_BOOT_MS = 16 * MINUTE_MS;

const TTL_MS = 4 * MINUTE_MS;
const livesOf = ({ world }: ComputerScene): string[] =>
  world.cloud.machines().flatMap(({ name, state }) => (state(world.clock.now()) === 'running' ? [name] : []));

const tokenOf = (scene: ComputerScene): string =>
  /mlt_[\w-]+/.exec(machinesOf(scene)[0]?.scripts().join('\n') ?? '')?.[0] ?? '';

/** Somebody who has found the token joins with a key of their own. */
async function joinWith({ world }: ComputerScene, name: string, token: string): Promise<string> {
  const hello = { name, pool: 'dev', slots: 1, labels: {}, wire: 'muster', version: '1', hostname: name } as const;
  const proof = { peerAddress: '10.9.9.9', token, key: 'a key of theirs' };
  const joined = world.life.machines.join({ ...hello, address: '10.9.9.9', executions: [] }, proof);
  return joined.then(
    () => 'joined',
    ({ kind, message }: { kind: string; message: string }) => `${kind}: ${message}`,
  );
}

export const END_LAWS: readonly ComputerLaw[] = [
  {
    id: 'time to live',
    name: 'a computer is removed when its time to live is over, and not before its new end once it is extended',
    async check(_stage, harness) {
      const scene = await openScene(harness);
      const { clock } = scene.world;
      await create(scene, 'dev', { ttlMs: TTL_MS });
      await clock.advance(MINUTE_MS);
      const extended = await computersIn(scene)
        .extend('dev', TTL_MS, callerAt())
        .then(
          () => true,
          ({ kind }: { kind: string }) => {
            expect(kind, 'why it cannot be extended').toBe('unsupported');
            return false;
          },
        );
      await clock.advance(TTL_MS - 2 * MINUTE_MS);
      expect([statusIn(scene, 'dev'), livesOf(scene).length]).toEqual(['running', 1]);
      if (extended) {
        await clock.advance(TTL_MS);
        expect([statusIn(scene, 'dev'), livesOf(scene).length], 'extended').toEqual(['running', 1]);
      }
      await clock.advance(3 * MINUTE_MS);

      expect(statusIn(scene, 'dev')).toBe('none');
      expectNothingLeft(scene);
      const [ended] = scene.world.disk.histories.endedComputers;
      expect(ended).toMatchObject({ endedBy: 'muster', why: 'Its time to live is over.' });
    },
  },
  {
    id: 'without a server',
    name: 'a computer whose server is gone ends by itself, as far as its cloud can, and the next server sweeps the rest',
    async check(_stage, harness) {
      const scene = await openScene(harness);
      const { clock, server } = scene.world;
      await create(scene, 'dev', { ttlMs: TTL_MS });
      await clock.advance(MINUTE_MS);
      server.end(undefined);
      await clock.advance(TTL_MS - 2 * MINUTE_MS);
      expect(livesOf(scene), 'before its end').toHaveLength(1);
      await clock.advance(3 * MINUTE_MS);
      if (harness.endsItself) expect(livesOf(scene), 'after its end').toEqual([]);

      await server.start();
      await clock.advance(3 * MINUTE_MS);
      expect(statusIn(scene, 'dev')).toBe('none');
      expect(everMade(scene)).toHaveLength(1);
      expectNothingLeft(scene);
    },
  },
  {
    id: 'credentials',
    name: 'a reader of the account finds no credential but the token of one launch, which opens nothing after the join, and the log of the server has none',
    async check(_stage, harness) {
      const scene = await openScene(harness);
      const { world } = scene;
      await create(scene, 'dev');
      await world.clock.advance(MINUTE_MS);
      const [machine] = machinesOf(scene);
      const token = tokenOf(scene);
      demand(machine && token !== '', 'no machine has a launch token');
      const shown = new Set(harness.shown(world.cloud).flatMap((text) => text.match(CREDENTIAL) ?? []));

      expect([...shown], 'credentials that are shown').toEqual(harness.isSealed || !shown.has(token) ? [] : [token]);
      const { name = '' } = machine ?? {};
      expect(await joinWith(scene, name, token), 'the same name again').toMatch(/^denied/);
      expect(await joinWith(scene, 'c-dev-other', token), 'another name').toMatch(/^denied/);
      expect(statusIn(scene, 'dev')).toBe('running');
      await expectRemoved(scene, 'dev', 2 * MINUTE_MS);
      expect(await joinWith(scene, name, token), 'after its end').not.toBe('joined');
    },
  },
  {
    id: 'late token',
    name: 'the launch token of a machine that boots after more than 15 minutes opens nothing, and the computer leaves nothing',
    async check(_stage, harness) {
      const { platform, options } = harness.request(0);
      // Computers with a backend of one's own have failed by then.
      if (platform === undefined) return;
      const scene = await openScene(harness, { bootMs: LATE_BOOT_MS });
      const { clock } = scene.world;
      await create(scene, 'dev', { options: { ...options, timeout: 3_600 } });
      await clock.advance(LATE_BOOT_MS + 4 * MINUTE_MS);
      const token = tokenOf(scene);
      demand(token !== '', 'no machine has a launch token');

      expect(statusIn(scene, 'dev')).toBe('starting');
      expect(await joinWith(scene, machinesOf(scene)[0]?.name ?? '', token)).toMatch(/^denied: .* has expired/);
      await expectRemoved(scene, 'dev', 2 * MINUTE_MS);
    },
  },
];
