import { expect, it } from 'vitest';
import { seededRandom } from '#core/random.ts';
import { append } from '#core/store.ts';
import { VirtualClock } from '#core/virtual-clock.ts';
import { emptyDisk, memoryDriver } from '../store/memory.ts';
import { openStore } from '../store/store.ts';
import { openAccess } from './access.ts';

const admin = { who: 'token:admin', from: '127.0.0.1' };

it('events of a browser name the token that created its login link', async () => {
  const clock = new VirtualClock();
  const access = await openAccess({
    store: await openStore(memoryDriver(emptyDisk()), () => {}),
    clock,
    random: seededRandom(1),
    log: () => {},
    event: (event, actor = admin) => append('events', { id: 'e', at: clock.now(), ...actor, ...event }),
  });
  const { text } = await access.createToken({ name: 'ann', use: { role: 'operator' } }, admin);
  const ann = access.authenticate({ authorization: `Bearer ${text}`, from: '10.0.0.7' });
  const { code } = access.createLoginLink('viewer', ann);
  const { text: cookie } = await access.exchangeLogin(code, '10.0.0.8');

  const browser = access.authenticate({ cookie: `muster_session=${cookie}`, from: '10.0.0.8' });

  expect(browser).toMatchObject({ who: 'token:ann (browser)', from: '10.0.0.8', role: 'viewer' });
});
