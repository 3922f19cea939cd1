import { describe, expect, it } from 'vitest';
import { agentRecipe } from './agent-recipe.ts';

const CONTAINER = { form: 'container', base: 'node:24-bookworm-slim', machine: 'x86_64' } as const;
const MACHINE = { form: 'machine', base: 'debian-cloud/debian-12', machine: 'x86_64' } as const;
const AGENT = {
  bundle: { path: '/cache/agent.mjs', sha256: 'aa' },
  archive: { path: '/cache/agent.tar.gz', sha256: 'bb' },
};

describe('the recipe of the agent', () => {
  it('for containers starts the agent by the Node of its base, and fails early where that is too old', () => {
    const { files, steps, entry, ports, name, version } = agentRecipe('1.2.0', CONTAINER, AGENT);

    expect([name, version, entry, ports]).toEqual(['muster-agent', '1.2.0', ['/opt/muster/bin/muster'], [8000]]);
    expect(files.map(({ path, mode }) => [path, mode.toString(8)])).toEqual([
      ['/opt/muster/agent.mjs', '644'],
      ['/opt/muster/bin/muster', '755'],
      ['/usr/local/bin/muster', '755'],
    ]);
    expect(steps[0]).toBe('/opt/muster/bin/muster --version');
  });

  it('for machines unpacks the agent where their first boot looks for it, and starts nothing', () => {
    const { files, entry, ports } = agentRecipe('1.2.0', MACHINE, AGENT);

    expect(files).toEqual([
      { path: '/opt/muster', mode: 0o755, from: { archive: '/cache/agent.tar.gz', sha256: 'bb' } },
    ]);
    expect([entry, ports]).toEqual([[], []]);
  });

  it.each([CONTAINER, MACHINE])('for a $form holds no SSH host key and no machine-id', (target) => {
    const last = agentRecipe('1.2.0', target, AGENT).steps.at(-1);

    expect(last).toContain('/etc/ssh/ssh_host_');
    expect(last).toContain(': > /etc/machine-id');
  });

  it('is equal for an equal agent wherever that is kept, and another one for another agent', () => {
    const one = agentRecipe('1.2.0', CONTAINER, AGENT);
    const moved = agentRecipe('1.2.0', CONTAINER, { bundle: { path: '/elsewhere/agent.mjs', sha256: 'aa' } });
    const changed = agentRecipe('1.2.0', CONTAINER, { bundle: { path: '/cache/agent.mjs', sha256: 'cc' } });

    expect(moved.hash).toBe(one.hash);
    expect(changed.hash).not.toBe(one.hash);
  });
});
