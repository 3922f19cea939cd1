/** Colours of states; the word beside it always says the same. */
export type Tone = 'ok' | 'wait' | 'problem' | 'off';

const TONES: Readonly<Record<string, Tone>> = {
  active: 'ok',
  busy: 'ok',
  idle: 'ok',
  ready: 'ok',
  running: 'ok',
  exited: 'ok',
  live: 'ok',
  launching: 'wait',
  booting: 'wait',
  starting: 'wait',
  queued: 'wait',
  pending: 'wait',
  provisioning: 'wait',
  updating: 'wait',
  coming: 'wait',
  draining: 'wait',
  removing: 'wait',
  deleting: 'wait',
  expiring: 'wait',
  tainted: 'wait',
  connecting: 'wait',
  frozen: 'wait',
  held: 'wait',
  lost: 'problem',
  failed: 'problem',
  unknown: 'problem',
  unready: 'problem',
  error: 'problem',
  refused: 'problem',
  timeout: 'problem',
  signalled: 'problem',
  offline: 'problem',
};

/** How a word of the API looks; words that this page does not know look quiet. */
export const toneOf = (word: string): Tone => TONES[word] ?? 'off';

interface StateProps {
  readonly word: string;
  readonly tone?: Tone;
  readonly title?: string | undefined;
}

/** One status word with its dot. */
export function State({ word, tone = toneOf(word), title }: StateProps) {
  return (
    <span class="state" title={title}>
      <span class={`dot ${tone}`} aria-hidden="true" />
      {word}
    </span>
  );
}
