// The session that the README shows can be recorded anew: `npm run record` writes the picture.
import { expect, test } from 'vitest';
import { COMMANDS, recordSession } from '../../scripts/record-session.ts';

test('every command of the recorded session works on a server of its own', async () => {
  const recorded = await recordSession();
  const printed = recorded.map(({ printed }) => printed.map(({ text }) => text).join(''));

  expect(recorded.map(({ command }) => command)).toEqual(COMMANDS);
  expect(printed.at(-1)).toContain('weights of --seed 2');
});
