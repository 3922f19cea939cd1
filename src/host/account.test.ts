import { expect, it } from 'vitest';
import { accountVariables, commandAs, findAccount } from './account.ts';

const USERS: Record<string, string> = { ada: 'ada:x:1001:1002:Ada:/home/ada:/bin/bash' };
const lookUp = async (name: string) => USERS[name === '1001' ? 'ada' : name];

it('finds a user by name, with home and shell', async () => {
  const account = await findAccount({ user: 'ada' }, lookUp);

  expect(account).toEqual({ name: 'ada', uid: 1001, gid: 1002, home: '/home/ada', shell: '/bin/bash' });
  expect(accountVariables(account)).toEqual({ HOME: '/home/ada', USER: 'ada', LOGNAME: 'ada', SHELL: '/bin/bash' });
});

it.each(['no-such-user', '1001'])('refuses the unknown user "%s": a number is no name', async (user) => {
  await expect(findAccount({ user }, lookUp)).rejects.toMatchObject({
    kind: 'missing',
    message: `There is no user ${user} on this machine.`,
  });
});

it('takes numbers as they stand, whether the machine knows them or not', async () => {
  const known = await findAccount({ uid: 1001, gid: 5, groups: [6] }, lookUp);
  const unknown = await findAccount({ uid: 4242, gid: 5, groups: [] }, lookUp);

  expect(known).toMatchObject({ uid: 1001, gid: 5, groups: [6], home: '/home/ada' });
  expect(accountVariables(unknown)).toEqual({ HOME: '/' });
});

it('refuses where the machine has no program to change the account', () => {
  const account = { uid: 4242, gid: 4242, home: '/' };

  expect(() => commandAs(account, ['id'], () => undefined)).toThrow(expect.objectContaining({ kind: 'unsupported' }));
});
