import type { Alternative, Decision } from '../../api/wire/decision.ts';
import { Facts, Value, wordsOf } from './facts.tsx';
import { Ago } from './time.tsx';
import { dollars, number } from './words.ts';

export function Alternatives({ of }: { readonly of: readonly Alternative[] | undefined }) {
  if (!of || of.length === 0) return null;
  const isPriced = of.some(({ price_per_hour: price }) => price !== undefined);
  return (
    <>
      <h3>Rejected alternatives</h3>
      <table class="plain-table">
        <thead>
          <tr>
            <th scope="col">What</th>
            <th scope="col">Why not</th>
            {isPriced && (
              <th scope="col" class="number">
                $/h
              </th>
            )}
          </tr>
        </thead>
        <tbody>
          {of.map(({ what, why_not, price_per_hour: price }) => (
            <tr key={what}>
              <td>{what}</td>
              <td>{why_not}</td>
              {isPriced && <td class="number">{price === undefined ? '' : dollars(price)}</td>}
            </tr>
          ))}
        </tbody>
      </table>
    </>
  );
}

/** What was decided and why, the facts behind it, and what would have changed it. */
export function DecisionView({ decision }: { readonly decision: Decision }) {
  const { id, at, did, why, unless, facts, alternatives, inputs, repeats, last_at: lastAt, reason } = decision;
  return (
    <article class="decision" aria-label="Decision">
      <p class="quiet">
        <a href={`/decisions/${encodeURIComponent(id)}`}>Decision</a> of <Ago at={at} />
        {repeats ? (
          <>
            , taken {number(repeats)} more times, last {lastAt && <Ago at={lastAt} />}
          </>
        ) : null}
      </p>
      <p>
        <strong>{did}</strong>
      </p>
      <p>{why}</p>
      {unless && (
        <p>
          <span class="quiet">Would change if: </span>
          {unless}
        </p>
      )}
      <Alternatives of={alternatives} />
      <h3>Facts</h3>
      <Facts
        of={Object.entries(facts).map(([key, value]) => [
          wordsOf(key),
          <span key={key} class={value === 0 || value === false ? 'quiet' : ''}>
            <Value value={value} />
          </span>,
        ])}
      />
      {reason && <p class="quiet mono">{reason.code}</p>}
      {inputs !== undefined && (
        <details>
          <summary>Inputs</summary>
          <pre tabIndex={0}>
            <code>{inputs}</code>
          </pre>
        </details>
      )}
    </article>
  );
}
