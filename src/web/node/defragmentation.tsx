import type { Defragmentation } from '../../api/wire/node.ts';
import { counted, dollars } from '../parts/words.ts';

/** What emptying the first of the nodes would come to. */
export function sumOf({ nodes }: Pick<Defragmentation, 'nodes'>, count: number) {
  const freed = nodes.slice(0, count);
  const prices = freed.map(({ price_per_hour: price }) => price);
  return {
    freed,
    evictions: freed.reduce((sum, { moves }) => sum + moves.length, 0),
    gpus: freed.reduce((sum, { gpus }) => sum + gpus, 0),
    savedPerHour: prices.includes(undefined) ? undefined : prices.reduce<number>((sum, price) => sum + (price ?? 0), 0),
  };
}

interface DefragmentationProps {
  readonly plan: Defragmentation;
  readonly count: number;
  readonly choose: (count: number) => void;
}

/** How many nodes could be emptied, and what that moves and saves, before anyone acts. */
export function IfDefragmented({ plan, count, choose }: DefragmentationProps) {
  const { freed, evictions, gpus, savedPerHour } = sumOf(plan, count);
  return (
    <section aria-label="If defragmented">
      <h2>If defragmented</h2>
      <p class="quiet">{plan.message}</p>
      {plan.nodes.length > 0 && (
        <>
          <label class="slider">
            <span>Empty</span>
            <input
              type="range"
              min={0}
              max={plan.nodes.length}
              value={count}
              onInput={(event) => choose(Number(event.currentTarget.value))}
            />
            <output>
              {counted(freed.length, 'node')} with {counted(gpus, 'GPU')}, {counted(evictions, 'pod')} move
              {savedPerHour === undefined ? ', saving unknown' : `, saves ${dollars(savedPerHour)}/h`}
            </output>
          </label>
          <ul class="events">
            {freed.flatMap(({ name, moves }) =>
              moves.map(({ pod, to }) => (
                <li key={name + pod}>
                  <span class="mono">{pod}</span> from <span class="mono">{name}</span> to{' '}
                  <span class="mono">{to}</span>
                </li>
              )),
            )}
          </ul>
        </>
      )}
      {plan.kept.length > 0 && (
        <details>
          <summary>{counted(plan.kept.length, 'node')} kept</summary>
          <ul class="events">
            {plan.kept.map(({ node, why }) => (
              <li key={node}>
                <span class="mono">{node}</span> {why}
              </li>
            ))}
          </ul>
        </details>
      )}
    </section>
  );
}
