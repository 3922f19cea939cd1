// Many agents of one address that show no credential, like those of a pool that admits them by their machine.
import { afterEach, expect, test } from 'vitest';
import { systemClock } from '#core/clock.ts';
import { silentLog } from '#core/log.ts';
import { systemRandom } from '#core/random.ts';
import { untilHolds } from '#core/testing/until.ts';
import { openFakePlane } from '../broker/testing.ts';
import { parseBrokerAddress } from './address.ts';
import type { Ending } from './backoff.ts';
import { openLine } from './dial.ts';
import { helloOf } from './hello.ts';
import { openUplink, type Uplink } from './uplink.ts';

const open: { close(): unknown }[] = [];
afterEach(async () => {
  for (const one of open.splice(0).reverse()) await one.close();
});

const AGENTS = 150;

test('agents that were refused because too many came at once join when they come again', async () => {
  let letIn = (): void => {};
  const isOpen = new Promise<void>((resolve) => (letIn = resolve));
  const plane = await openFakePlane({ knows: () => false, door: () => isOpen });
  open.push(plane);
  const endings: Ending[] = [];

  function start(name: string): Uplink {
    const self = { name, hostname: name, address: '', pool: 'p', slots: 1, labels: {}, version: '1' };
    return openUplink({
      headers: {},
      tasks: new Map(),
      addresses: [`127.0.0.1:${plane.port}`],
      openLine: async (address) => openLine(parseBrokerAddress(address, false), {}),
      hello: () => helloOf(self, { executions: [], tasks: new Map(), isDraining: false }),
      accepted() {},
      lost() {},
      failed: (ending) => void endings.push(ending),
      obey() {},
      clock: systemClock,
      random: systemRandom,
      log: silentLog,
    });
  }

  const agents = Array.from({ length: AGENTS }, (_, at) => start(`a${at}`));
  open.push({ close: () => Promise.all(agents.map((agent) => agent.leave())) });
  await untilHolds(() => expect(endings.length).toBeGreaterThanOrEqual(AGENTS - 32));
  expect(new Set(endings.map(({ code }) => code))).toEqual(new Set([8]));
  await untilHolds(() => expect(plane.hellos).toHaveLength(32));

  letIn();

  await untilHolds(() => expect(plane.broker.connectedAgents).toBe(AGENTS));
});
