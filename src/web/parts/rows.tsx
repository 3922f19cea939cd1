import type { ComponentChildren } from 'preact';
import { useEffect, useRef, useState } from 'preact/hooks';
import type { List } from '../live/list.ts';
import { Loading, Trouble } from './standing.tsx';
import { number } from './words.ts';

export interface Column<T> {
  readonly title: string;
  readonly show: (row: T) => ComponentChildren;
  /** In rem; columns without one share what is left. */
  readonly width?: number;
  readonly isNumber?: boolean;
  /** Narrow pages leave out 3 first, then 2. */
  readonly rank?: 1 | 2 | 3;
}

interface RowsProps<T> {
  readonly label: string;
  readonly list: List<T>;
  readonly columns: readonly Column<T>[];
  readonly idOf: (row: T) => string;
  readonly href?: (row: T) => string;
  /** Only so many, where another page has them all. */
  readonly most?: number;
  /** What stands here if there are none. */
  readonly empty: ComponentChildren;
}

const SPARE_ROWS = 6;
const FIRST_ROWS = 40;

/** As `tokens.css` has it: rows are higher on touch screens and narrow pages. */
const rowHeight = (): number =>
  typeof matchMedia === 'function' && matchMedia('(max-width: 600px), (pointer: coarse)').matches ? 44 : 32;

const cellClass = <T,>({ isNumber, rank = 1 }: Column<T>): string => `rank-${rank}${isNumber ? ' number' : ''}`;

/** Which rows are on the screen, with some spare ones. */
function useWindow(count: number): {
  readonly ref: { current: HTMLTableSectionElement | null };
  from: number;
  to: number;
} {
  const ref = useRef<HTMLTableSectionElement>(null);
  const [[from, to], setRange] = useState<readonly [number, number]>([0, FIRST_ROWS]);
  useEffect(() => {
    const look = (): void => {
      const top = ref.current?.getBoundingClientRect().top ?? 0;
      const height = rowHeight();
      const first = Math.max(0, Math.floor(-top / height) - SPARE_ROWS);
      const last = Math.ceil((innerHeight - top) / height) + SPARE_ROWS;
      setRange((before) => (before[0] === first && before[1] === last ? before : [first, Math.max(first, last)]));
    };
    look();
    addEventListener('scroll', look, { passive: true });
    addEventListener('resize', look, { passive: true });
    // What stands above may come, grow or go.
    const moved = new ResizeObserver(look);
    moved.observe(document.body);
    return () => {
      moved.disconnect();
      removeEventListener('scroll', look);
      removeEventListener('resize', look);
    };
  }, [count]);
  return { ref, from: Math.min(from, count), to: Math.min(to, count) };
}

/** A table that renders only the rows on the screen, and tells its list which these are. */
export function Rows<T>({ label, list, columns, idOf, href, most, empty }: RowsProps<T>) {
  const listed = list.rows.value;
  const rows = most === undefined ? listed : listed.slice(0, most);
  const hasMore = most === undefined ? list.hasMore.value : false;
  const { ref, from, to } = useWindow(rows.length);
  useEffect(() => {
    list.show(from, to);
    if (to >= rows.length && hasMore) list.loadMore();
  }, [list, from, to, rows.length, hasMore]);
  const problem = list.problem.value;
  if (problem && (rows.length === 0 || problem.kind !== 'unavailable')) return <Trouble problem={problem} />;
  if (list.isLoading.value) return <Loading />;
  if (rows.length === 0) return <>{empty}</>;
  return (
    <>
      <table class="rows" aria-label={label} aria-rowcount={hasMore ? -1 : rows.length + 1}>
        <thead>
          <tr>
            {columns.map((column) => (
              <th
                key={column.title}
                scope="col"
                class={cellClass(column)}
                style={column.width === undefined ? undefined : `width: ${column.width}rem`}
              >
                {column.title}
              </th>
            ))}
          </tr>
        </thead>
        <tbody ref={ref}>
          <Gap rows={from} />
          {rows.slice(from, to).map((row, at) => (
            <tr key={idOf(row)} aria-rowindex={from + at + 2} data-row={from + at}>
              {columns.map((column, place) => (
                <td key={column.title} class={cellClass(column)}>
                  {place === 0 && href ? <a href={href(row)}>{column.show(row)}</a> : column.show(row)}
                </td>
              ))}
            </tr>
          ))}
          <Gap rows={rows.length - to} />
        </tbody>
      </table>
      {most === undefined && (
        <p class="quiet small">
          {number(rows.length)} {hasMore ? 'listed, more below' : 'in all'}
        </p>
      )}
    </>
  );
}

/** The room of rows that are not on the screen. */
function Gap({ rows }: { readonly rows: number }) {
  return rows === 0 ? null : (
    <tr aria-hidden="true" class="gap">
      <td style={`height: ${rows * rowHeight()}px`} />
    </tr>
  );
}
