import { renderToString } from 'preact-render-to-string';
import { expect, it } from 'vitest';
import { Block } from './output-block.tsx';
import type { OutputRun } from './output-text.ts';

const run = (text: string, more: Partial<OutputRun> = {}): OutputRun => ({
  stream: 'stdout',
  attempt: 1,
  text,
  ...more,
});

const html = (runs: readonly OutputRun[], words = '', current?: number, attemptBefore?: number): string =>
  renderToString(<Block block={{ id: 1, runs }} words={words} current={current} attemptBefore={attemptBefore} />);

it('what a program writes is text, also where it is what one looks for', () => {
  const planted = '<img src=x onerror=alert(1)>';

  for (const text of [html([run(planted)]), html([run(`a ${planted}`)], '<img', 0)]) {
    expect(text).not.toContain('<img');
    expect(text).toContain('&lt;img');
  }
});

it('control characters, stderr, hits and attempts are marked', () => {
  const text = html([run('\x1b[31mred\nred'), run('wrong', { stream: 'stderr', attempt: 2 })], 'red', 1, 1);

  expect(text).toContain('<span class="control" title="Control characters">^[[31m</span>');
  expect(text).toMatch(/<mark>red<\/mark>.*<mark aria-current="true">red<\/mark>/s);
  expect(text).toMatch(/<h3>Attempt 2<\/h3><div class="stderr" title="stderr">wrong/);
  expect(text).not.toContain('Attempt 1');
});
