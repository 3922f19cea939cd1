import { expect, it } from 'vitest';
import { Fault } from '#core/fault.ts';
import { toProblem } from './problem.ts';

it('lists every problem of a document, without secrets', () => {
  const problems = [
    { path: 'name', line: 1, column: 7, message: 'Not planted-secret.' },
    { path: '', message: 'Too long.', remedy: 'Cut it.' },
  ];
  const fault = new Fault('invalid', 'line 1, column 7: name: Not planted-secret; Too long.', { problems });

  const shown = toProblem(fault, (text) => text.replaceAll('planted-secret', '[hidden]'));

  expect(shown.problems).toEqual([
    { path: 'name', line: 1, column: 7, message: 'Not [hidden].' },
    { path: '', message: 'Too long.', remedy: 'Cut it.' },
  ]);
  expect(toProblem(new Fault('missing', 'No.'), (text) => text)).not.toHaveProperty('problems');
});
