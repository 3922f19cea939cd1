// The one file that loads uPlot: a chunk of its own.
import uPlot from 'uplot';

/** Of one chart: times in seconds, then the values of each line. */
export type PlotData = readonly [xs: readonly number[], ...ys: readonly (readonly (number | null)[])[]];

export interface PlotLine {
  readonly title: string;
  /** The custom property with its colour. */
  readonly colour: string;
  readonly look: 'area' | 'line' | 'thin';
}

/** Where the times of the chart are on the page. */
export interface PlotSpan {
  readonly leftPx: number;
  readonly widthPx: number;
  readonly fromMs: number;
  readonly toMs: number;
}

export interface PlotOptions {
  readonly lines: readonly PlotLine[];
  readonly heightPx: number;
  readonly isUtc: boolean;
  /** Where the names and values of the lines go. */
  readonly legend: HTMLElement;
  /** Where the hour ends that the chart shows: a pool that is new has one value or none. */
  readonly nowS: () => number;
  readonly drawn: (span: PlotSpan) => void;
}

export interface Plot {
  set(data: PlotData): void;
  remove(): void;
}

const THIN_PX = 1;
const LINE_PX = 1.5;

function seriesOf({ title, colour, look }: PlotLine, styles: CSSStyleDeclaration): uPlot.Series {
  const stroke = styles.getPropertyValue(colour);
  return {
    label: title,
    stroke,
    width: look === 'thin' ? THIN_PX : LINE_PX,
    points: { show: false },
    ...(look === 'thin' && { dash: [4, 4] }),
    ...(look === 'area' && { fill: `${stroke}33` }),
    paths: uPlot.paths.stepped?.({ align: 1 }) as uPlot.Series.PathBuilder,
  };
}

function axisOf(styles: CSSStyleDeclaration): uPlot.Axis {
  const grid = { stroke: styles.getPropertyValue('--g2'), width: 1 };
  return { stroke: styles.getPropertyValue('--g6'), grid, ticks: { ...grid, size: 4 }, font: '12px system-ui' };
}

const asData = (data: PlotData): uPlot.AlignedData => data.map((values) => [...values]) as uPlot.AlignedData;

const HOUR_S = 3_600;

/** Draws into that element, as wide as it is. */
export function openPlot(element: HTMLElement, data: PlotData, options: PlotOptions): Plot {
  const styles = getComputedStyle(document.documentElement);
  const { lines, heightPx, isUtc, legend, nowS, drawn } = options;
  const size = (): { width: number; height: number } => ({ width: element.clientWidth, height: heightPx });
  const plot = new uPlot(
    {
      ...size(),
      ...(isUtc && { tzDate: (seconds: number) => uPlot.tzDate(new Date(seconds * 1_000), 'Etc/UTC') }),
      padding: [8, 20, 0, 0],
      legend: { mount: (_plot, table) => legend.append(table) },
      cursor: { points: { size: 6 }, drag: { x: false, y: false } },
      scales: {
        x: { range: () => [nowS() - HOUR_S, nowS()] },
        y: { range: (_plot, _min, max) => [0, Math.max(1, Math.ceil(max * 1.1))] },
      },
      axes: [
        { ...axisOf(styles), size: 28, space: 64, values: '{HH}:{mm}' },
        { ...axisOf(styles), size: 44, space: 24, incrs: [1, 2, 5, 10, 20, 50, 100, 200, 500, 1e3, 1e4, 1e5] },
      ],
      series: [{ value: '{HH}:{mm}' }, ...lines.map((line) => seriesOf(line, styles))],
      hooks: {
        draw: [
          ({ bbox, scales }) =>
            drawn({
              leftPx: bbox.left / devicePixelRatio,
              widthPx: bbox.width / devicePixelRatio,
              fromMs: (scales.x?.min ?? 0) * 1_000,
              toMs: (scales.x?.max ?? 0) * 1_000,
            }),
        ],
      },
    },
    asData(data),
    element,
  );
  const resized = new ResizeObserver(() => plot.setSize(size()));
  resized.observe(element);
  return {
    set: (next) => plot.setData(asData(next)),
    remove() {
      resized.disconnect();
      plot.destroy();
      legend.replaceChildren();
    },
  };
}
