import { useEffect, useLayoutEffect, useMemo, useRef, useState } from 'preact/hooks';
import type { HttpProblem } from '../../api/wire/problem.ts';
import type { Session } from '../../api/wire/session.ts';
import { API } from '../live/request.ts';
import { useLive } from '../live/use.ts';
import { Loading, Trouble } from '../parts/standing.tsx';
import { number, size } from '../parts/words.ts';
import { Block } from './output-block.tsx';
import { followOutput } from './output-stream.ts';
import { type OutputBlock, openOutputText } from './output-text.ts';
import { type Hits, openSearch } from './search.ts';

/** More than that is read from its end; the download has all. */
const WHOLE_UP_TO_BYTES = 4_000_000;
const TAIL_LINES = 10_000;
const AT_END_PX = 24;

export const sessionPath = (id: string): string => `/sessions/${encodeURIComponent(id)}`;

interface ReadOutput {
  readonly blocks: readonly OutputBlock[];
  readonly isCutBefore: boolean;
  /** All of it is here, and no more will come. */
  readonly isWhole: boolean;
  readonly problem?: HttpProblem;
}

const NOTHING: ReadOutput = { blocks: [], isCutBefore: false, isWhole: false };

/** The output of a session as it comes. */
function useOutput({ id, output }: Session): ReadOutput {
  const live = useLive();
  const [read, setRead] = useState<ReadOutput>(NOTHING);
  useEffect(() => {
    const text = openOutputText();
    const tailLines = (output?.bytes ?? 0) > WHOLE_UP_TO_BYTES ? TAIL_LINES : undefined;
    const show = (more: Partial<ReadOutput>): void => setRead((before) => ({ ...before, ...more }));
    setRead(NOTHING);
    return followOutput(live, {
      session: id,
      tailLines,
      take(pieces) {
        text.add(pieces);
        show({ blocks: text.blocks(), isCutBefore: tailLines !== undefined || text.isCutBefore() });
      },
      async hasEnded() {
        const { value } = await live.refresh<Session>(sessionPath(id));
        show({ isWhole: value?.end !== undefined });
        return value?.end !== undefined;
      },
      refused: (problem) => show({ problem }),
    });
  }, [live, id]);
  return read;
}

/** Keeps the end in sight until one scrolls back. */
function useFollowing(blocks: readonly OutputBlock[]) {
  const ref = useRef<HTMLElement>(null);
  const before = useRef({ topPx: 0, heightPx: 0 });
  const [isFollowing, setFollowing] = useState(true);
  useLayoutEffect(() => {
    if (isFollowing && ref.current) ref.current.scrollTop = ref.current.scrollHeight;
  }, [blocks, isFollowing]);
  function scrolled(): void {
    if (!ref.current) return;
    const { scrollTop, scrollHeight, clientHeight } = ref.current;
    const { topPx, heightPx } = before.current;
    before.current = { topPx: scrollTop, heightPx: clientHeight };
    // Lines above may turn out to be higher than was thought, and a window may grow: only who scrolls back leaves the end.
    if (scrollTop < topPx && clientHeight === heightPx) setFollowing(false);
    else if (scrollHeight - scrollTop - clientHeight < AT_END_PX) setFollowing(true);
  }
  return { ref, scrolled, isFollowing, follow: () => setFollowing(true) };
}

interface SearchProps {
  readonly words: string;
  readonly hits: Hits;
  readonly at: number;
  readonly look: (words: string) => void;
  readonly go: (at: number) => void;
}

function Search({ words, hits, at, look, go }: SearchProps) {
  const shownAt = hits.count === 0 ? 0 : (((at % hits.count) + hits.count) % hits.count) + 1;
  return (
    <search class="search">
      <input
        type="search"
        aria-label="Search in the output"
        placeholder="Search"
        value={words}
        onInput={(event) => look(event.currentTarget.value)}
        onKeyDown={({ key, shiftKey }) => key === 'Enter' && go(at + (shiftKey ? -1 : 1))}
      />
      {words !== '' && (
        <>
          <span role="status">
            {hits.count === 0 ? 'nothing found' : `${number(shownAt)} of ${number(hits.count)}`}
          </span>
          <button type="button" aria-label="Previous" disabled={hits.count === 0} onClick={() => go(at - 1)}>
            ↑
          </button>
          <button type="button" aria-label="Next" disabled={hits.count === 0} onClick={() => go(at + 1)}>
            ↓
          </button>
        </>
      )}
    </search>
  );
}

/** What stands in place of lines where there are none. */
function NoLines({ session: { end, output }, isWhole }: { readonly session: Session; readonly isWhole: boolean }) {
  if (!end) return <p class="quiet">It has written nothing yet.</p>;
  if (!isWhole) return <Loading rows={3} />;
  return <p class="quiet">{output?.bytes ? 'Its output is no longer kept.' : 'It wrote nothing.'}</p>;
}

/** Scrolls the lines, and not the page, to the hit that one is at. */
function centre(lines: HTMLElement): void {
  const mark = lines.querySelector('mark[aria-current]');
  if (!mark) return;
  const [from, to] = [lines.getBoundingClientRect(), mark.getBoundingClientRect()];
  lines.scrollTop += to.top - from.top - from.height / 2;
}

/** Live output: it follows the end, shows what would not be seen, and finds words. */
export function Output({ session }: { readonly session: Session }) {
  const { blocks, isCutBefore, isWhole, problem } = useOutput(session);
  const { ref, scrolled, isFollowing, follow } = useFollowing(blocks);
  const [words, setWords] = useState('');
  const [at, setAt] = useState(0);
  const [isWrapped, setWrapped] = useState(true);
  const search = useMemo(() => openSearch(words), [words]);
  const hits = useMemo(() => search(blocks), [search, blocks]);
  const place = hits.placeOf(at);
  useEffect(() => {
    if (ref.current) centre(ref.current);
  }, [at, words]);
  if (problem) return <Trouble problem={problem} />;
  return (
    <section aria-label="Output" class="output">
      <div class="tools">
        <h2>Output</h2>
        <Search
          words={words}
          hits={hits}
          at={at}
          look={(to) => {
            setWords(to);
            setAt(0);
          }}
          go={setAt}
        />
        <label class="flag">
          <input type="checkbox" checked={isWrapped} onChange={(event) => setWrapped(event.currentTarget.checked)} />
          <span>Wrap lines</span>
        </label>
        <span class="space" />
        {!isFollowing && (
          <button type="button" onClick={follow}>
            {session.end ? 'Go to the end' : 'Follow the end'}
          </button>
        )}
        <a class="button" href={`${API}${sessionPath(session.id)}/output?download=1`} download>
          Download
        </a>
      </div>
      {isCutBefore && <p class="quiet small">Only the last lines are here; the download has all that is kept.</p>}
      {blocks.length === 0 ? (
        <NoLines session={session} isWhole={isWhole} />
      ) : (
        <section
          ref={ref}
          class={`lines${isWrapped ? ' wrapped' : ''}`}
          aria-label="Lines of the output"
          tabIndex={0}
          onScroll={scrolled}
        >
          {blocks.map((block, index) => (
            <Block
              key={block.id}
              block={block}
              words={words}
              current={place?.block === block.id ? place.hit : undefined}
              attemptBefore={blocks[index - 1]?.runs.at(-1)?.attempt ?? (session.attempt > 1 ? 0 : undefined)}
            />
          ))}
        </section>
      )}
      {session.output?.is_cut && (
        <p class="quiet small">Cut after {size(session.output.bytes)}: what it wrote beyond that is not kept.</p>
      )}
    </section>
  );
}
