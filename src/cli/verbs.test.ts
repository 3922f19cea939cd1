import { describe, expect, it } from 'vitest';
import { broken, ended, line, openScene, pieces, raw } from './testing.ts';

const session = ended({ id: 's1' });
const pool = {
  name: 'local',
  phase: 'active',
  owner: { source: 'file', key: 'k', version: '1' },
  auto_scaler: {},
  backends: [],
  workers: { idle: 1, busy: 0, launching: 0, booting: 0, draining: 0, deleting: 0, lost: 0, total: 1 },
  slots: {},
  sessions: { placed: 0, queued: 0 },
  labels: {},
};
const status = { version: '9.9', counts: { workers: {}, sessions: {} }, addresses: {}, ready: true };

/** What a command line sends and prints. */
async function ran(...words: string[]) {
  const scene = openScene(({ path }) => {
    if (path.endsWith('/output')) return raw(pieces([line(1, 'out\n')]));
    if (path === '/server') return status;
    if (path === '/sessions' || path === '/pools') return { items: [path === '/pools' ? pool : session] };
    return path.startsWith('/pools/') ? pool : session;
  });
  const code = await scene.muster(...words);
  return { code, sent: scene.asked.map(({ path, query }) => [path, query]), said: scene.output() + scene.errors() };
}

describe('names that other tools have for the same', () => {
  it.each([
    ['logs s1', 'session logs s1'],
    ['ps', 'session ls'],
    ['ps -p gpu --phase queued -n 3', 'session ls -p gpu --phase queued -n 3'],
    ['status', 'server status'],
    ['get pools', 'pool ls'],
    ['get pool -o json', 'pool ls -o json'],
    ['get pool local', 'pool show local'],
    ['get pools -o json local', 'pool show -o json local'],
    ['get sessions --phase queued -o yaml', 'session ls --phase queued -o yaml'],
    ['get session s1', 'session show s1'],
    ['describe pool local', 'pool show local'],
    ['describe sessions s1 -o json', 'session show s1 -o json'],
  ])('`muster %s` does what `muster %s` does', async (one, other) => {
    const answers = await Promise.all([ran(...one.split(' ')), ran(...other.split(' '))]);

    expect(answers[0]).toEqual(answers[1]);
    expect(answers[0].code).toBe(0);
  });

  it('version names this command and the server, and does not fail where none answers', async () => {
    const { muster, output } = openScene(() => broken('ECONNREFUSED'));

    expect((await ran('version')).said).toMatch(/^Command\s+1\.2\.3\nServer\s+9\.9\n$/);
    expect(await muster('version')).toBe(0);
    expect(output()).toMatch(/^Command\s+1\.2\.3\nServer\s+none: No Muster server answers/);
  });
});

describe('what was meant', () => {
  it.each([
    ['jobs', 'Did you mean session?'],
    ['squeue', 'Did you mean ps?'],
    ['tail x', 'Did you mean logs -f?'],
    ['session cancel x', 'Did you mean kill?'],
    ['session tail x', 'Did you mean logs -f?'],
    ['lgos', 'Did you mean logs?'],
    ['get poools', 'Did you mean pool? Use pool, session, worker'],
    ['get pols', 'Did you mean pool? Use pool, session, worker'],
    ['get podz', 'Did you mean worker? Use pool, session, worker'],
    ['pods', 'Did you mean worker?'],
    ['describe elephant x', 'Use pool, session, worker'],
    ['describe token x', 'Use pool, session, worker'],
    ['get token x', 'Run `muster token ls`.'],
    ['get', "missing required argument 'noun'"],
    ['describe pool', "missing required argument 'name'"],
    ['get pools --wach', 'Did you mean --watch?'],
  ])('`muster %s` is refused with: %s', async (words, said) => {
    const { code, sent, said: text } = await ran(...words.split(' '));

    expect([code, sent]).toEqual([2, []]);
    expect(text).toContain(said);
    expect(text).not.toContain('login');
  });
});
