import { useMemo } from 'preact/hooks';
import type { OutputBlock, OutputRun } from './output-text.ts';
import { stretchesOf } from './search.ts';
import { visiblePieces } from './visible-text.ts';

const LINE_PX = 18;

function Letters({ text }: { readonly text: string }) {
  return (
    <>
      {visiblePieces(text).map((piece, at) =>
        piece.isControl ? (
          <span key={at} class="control" title="Control characters">
            {piece.text}
          </span>
        ) : (
          piece.text
        ),
      )}
    </>
  );
}

interface RunProps {
  readonly run: OutputRun;
  readonly words: string;
  readonly firstHit: number;
  readonly current: number | undefined;
}

function Run({ run: { stream, text }, words, firstHit, current }: RunProps) {
  let hit = firstHit;
  return (
    <div class={stream} title={stream === 'stderr' ? 'stderr' : undefined}>
      {stretchesOf(text, words).map((stretch, at) =>
        stretch.isHit ? (
          <mark key={at} aria-current={hit++ === current ? 'true' : undefined}>
            <Letters text={stretch.text} />
          </mark>
        ) : (
          <Letters key={at} text={stretch.text} />
        ),
      )}
    </div>
  );
}

interface BlockProps {
  readonly block: OutputBlock;
  /** What is looked for. */
  readonly words: string;
  /** Which of the hits of this block one is at. */
  readonly current: number | undefined;
  /** That of the run before; each attempt begins with its number. */
  readonly attemptBefore: number | undefined;
}

const linesIn = ({ runs }: OutputBlock): number => runs.reduce((sum, { text }) => sum + text.split('\n').length, 0);

/** Some lines of an output, drawn once: the browser lays out only those on the screen. */
export function Block({ block, words, current, attemptBefore }: BlockProps) {
  return useMemo(() => {
    let attempt = attemptBefore;
    let hits = 0;
    return (
      <div class="block" style={`contain-intrinsic-height: auto ${linesIn(block) * LINE_PX}px`}>
        {block.runs.map((run, at) => {
          const isNew = attempt !== undefined && run.attempt !== attempt;
          attempt = run.attempt;
          const firstHit = hits;
          hits += words === '' ? 0 : stretchesOf(run.text, words).filter(({ isHit }) => isHit).length;
          return (
            <div key={at}>
              {isNew && <h3>Attempt {run.attempt}</h3>}
              <Run run={run} words={words} firstHit={firstHit} current={current} />
            </div>
          );
        })}
      </div>
    );
  }, [block, words, current, attemptBefore]);
}
