// Simulated machines, whose boot script and agent are the real ones, end at their time.
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { agentFile } from '#boot/agent-file.ts';
import { bootScript, NAME_PLACE, WORK_DIR } from '#boot/script.ts';
import { writeAgentConfig } from '#config/agent-file.ts';
import { systemClock } from '#core/clock.ts';
import { quoted } from '#core/shell-text.ts';
import { freePort } from '#core/testing/free-port.ts';
import { untilHolds } from '#core/testing/until.ts';
import type { Bootable } from '#fakes/boot/machine.ts';
import { openMachines } from '#fakes/boot/machines.ts';
import { PROGRAM } from './harness/start-place.ts';
import { openWorld, type World } from './harness/world.ts';

/** A machine of an image with the agent, that ends at that time. */
function machine(world: World, boot: { readonly serve: number; readonly endsAt: number }) {
  const agentConfig = writeAgentConfig({ broker: {}, slots: 1, workDir: '/none', labels: {}, ...boot });
  const text = agentFile({ agentConfig, token: '' }, { name: NAME_PLACE, workDir: WORK_DIR });
  const script = bootScript({ naming: { name: 'm-1' }, agentFile: text, install: undefined });
  let state: 'running' | 'gone' = 'running';
  let look: (machine: Bootable) => void = () => {};
  const bootable: Bootable = {
    id: 'm-1',
    state: () => state,
    nextChangeMs: () => undefined,
    scripts: () => [script],
    openMetadata: () => () => new Response(''),
    environment: () => world.mark,
    prepare(root) {
      const folder = join(root, 'opt/muster');
      mkdirSync(folder, { recursive: true });
      const agent = `#!/bin/sh\nexec ${quoted(process.execPath)} ${quoted(PROGRAM)} agent "$@"\n`;
      writeFileSync(join(folder, 'muster-agent'), agent, { mode: 0o755 });
    },
    poweredOff() {
      state = 'gone';
      look(bootable);
    },
  };
  const watch = (changed: typeof look) => {
    look = changed;
    changed(bootable);
    return () => {};
  };
  const machines = openMachines({ clock: systemClock, watch }, { folder: world.path('machines') });
  return { machines, state: () => state };
}

test('a machine powers itself off when the time of its agent is over: nothing of it runs, and its cloud knows', async (context) => {
  const world = openWorld(context);
  const { machines, state } = machine(world, { serve: await freePort(), endsAt: systemClock.now() + 1_000 });
  context.onTestFinished(() => machines.close());

  await untilHolds(() => expect([state(), world.living()]).toEqual(['gone', []]));
  const said = readFileSync(join(machines.folderOf('m-1'), 'muster-agent.service.log'), 'utf8');

  expect(said.match(/"message":"agent ends","why":"The time of this agent is over\."/g)).toHaveLength(1);
});
