import type { NodeOfPool } from '../../api/wire/node.ts';
import { State } from '../parts/state.tsx';
import { Ago } from '../parts/time.tsx';

/** GPUs of a node as cells: used, free, or lost with the node. */
export function GpuCells({
  node: { gpus, gpus_requested: used, phase },
  isFreed,
}: {
  readonly node: NodeOfPool;
  readonly isFreed?: boolean;
}) {
  const isLost = phase === 'unready';
  const text = isLost ? `${gpus} GPUs lost` : `${used} of ${gpus} GPUs used`;
  return (
    <span class="gpus" role="img" aria-label={text} title={text}>
      {Array.from({ length: gpus }, (_, at) => (
        <span key={at} class={`fill ${isLost ? 'problem' : isFreed ? 'wait' : at < used ? 'ok' : 'none'}`} />
      ))}
    </span>
  );
}

/** Nodes of one group, one row each. */
export function NodeRows({
  nodes,
  freed,
}: {
  readonly nodes: readonly NodeOfPool[];
  readonly freed: ReadonlySet<string>;
}) {
  return (
    <table class="plain-table nodes">
      <thead>
        <tr>
          <th scope="col">Node</th>
          <th scope="col">State</th>
          <th scope="col">GPUs</th>
          <th scope="col" class="number rank-2">
            Pods
          </th>
          <th scope="col">Why</th>
        </tr>
      </thead>
      <tbody>
        {nodes.map((node) => (
          <tr key={node.name} data-row={node.name}>
            <td class="mono">{node.name}</td>
            <td>
              <State word={node.phase} />
            </td>
            <td>
              <GpuCells node={node} isFreed={freed.has(node.name)} />
            </td>
            <td class="number rank-2">{node.pods}</td>
            <td>
              {freed.has(node.name) ? 'would be emptied' : node.why}{' '}
              {node.deletion_at && (
                <span class="quiet">
                  deleted <Ago at={node.deletion_at} />
                </span>
              )}{' '}
              {node.ends_at && (
                <span class="quiet">
                  ends <Ago at={node.ends_at} />
                </span>
              )}
            </td>
          </tr>
        ))}
      </tbody>
    </table>
  );
}
