import { expect, test } from 'vitest';
import { VirtualClock } from '#core/virtual-clock.ts';
import { stopThenForce } from './interrupts.ts';

function listen() {
  const clock = new VirtualClock();
  const heard: string[] = [];
  const signalled = stopThenForce(
    clock,
    (signal) => heard.push(signal),
    () => heard.push('force'),
  );
  return { clock, heard, signalled };
}

test('Ctrl-C that npm passes on a moment later stops the server only once', async () => {
  const { clock, heard, signalled } = listen();

  signalled('SIGINT');
  await clock.advance(1_500);
  signalled('SIGINT');

  expect(heard).toEqual(['SIGINT']);
});

test('a second Ctrl-C of a person ends the server by force', async () => {
  const { clock, heard, signalled } = listen();

  signalled('SIGINT');
  await clock.advance(1_500);
  signalled('SIGINT');
  await clock.advance(1_500);
  signalled('SIGINT');

  expect(heard).toEqual(['SIGINT', 'force']);
});
