import { refusal } from '#fakes/refusal.ts';
import type { FakeKeyValue } from './store.ts';

const NO_LABEL = '\0';

interface Alternative {
  readonly text: string;
  readonly isPrefix: boolean;
}

/** `a,b*,c\,d`: alternatives, each with an asterisk at its end or not; a backslash takes a sign literally. */
function alternativesIn(filter: string): Alternative[] {
  const found: Alternative[] = [];
  let [text, isPrefix] = ['', false];
  const end = (): void => {
    found.push({ text, isPrefix });
    [text, isPrefix] = ['', false];
  };
  for (let at = 0; at < filter.length; at++) {
    const sign = filter[at] as string;
    if (isPrefix && sign !== ',') throw refusal('Invalid request parameter', 'An asterisk stands inside.', 400);
    if (sign === '\\') text += filter[++at] ?? '';
    else if (sign === ',') end();
    else if (sign === '*') isPrefix = true;
    else text += sign;
  }
  end();
  return found;
}

function fits(filter: string | undefined, text: string | null): boolean {
  if (filter === undefined || filter === '*') return true;
  if (filter === NO_LABEL) return text === null;
  return alternativesIn(filter).some((one) =>
    one.isPrefix ? (text ?? '').startsWith(one.text) : (text ?? '') === one.text,
  );
}

/** Whether a key-value is asked for by the filters `key` and `label`. */
export function matcherOf(params: Readonly<Record<string, string>>): (item: FakeKeyValue) => boolean {
  return ({ key, label }) => fits(params.key, key) && fits(params.label, label);
}
