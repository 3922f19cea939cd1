import { useState } from 'preact/hooks';
import type { Defragmentation, NodeOfPool, NodePlan, NodePool, NodePoolDetail } from '../../api/wire/node.ts';
import { useList } from '../live/list.ts';
import { useAsked } from '../live/use.ts';
import { NodeRows } from '../node/cells.tsx';
import { IfDefragmented } from '../node/defragmentation.tsx';
import type { PageProps, WebNoun } from '../noun.ts';
import { Alternatives } from '../parts/decision.tsx';
import { Facts } from '../parts/facts.tsx';
import { type Column, Rows } from '../parts/rows.tsx';
import { Empty, Shown } from '../parts/standing.tsx';
import { State } from '../parts/state.tsx';
import { Ago } from '../parts/time.tsx';
import { counted, number } from '../parts/words.ts';

const EVERY_MS = 3_000;
const PLAN_EVERY_MS = 10_000;
const nameOf = ({ name }: NodePool): string => name;

function NodePoolState({ one: { ready, reason, message } }: { readonly one: NodePool }) {
  return <State word={ready ? 'ready' : reason} tone={ready ? 'ok' : 'problem'} title={message} />;
}

const COLUMNS: readonly Column<NodePool>[] = [
  { title: 'NodeProvisioner', show: ({ name }) => name },
  { title: 'State', width: 9, show: (one) => <NodePoolState one={one} /> },
  {
    title: 'Nodes',
    width: 6,
    rank: 2,
    isNumber: true,
    show: ({ nodes, target }) => `${number(nodes)} of ${number(target)}`,
  },
  {
    title: 'GPUs used',
    width: 7,
    isNumber: true,
    show: (one) => `${number(one.gpus_requested)} of ${number(one.gpus)}`,
  },
  { title: 'Starting', width: 5, rank: 2, isNumber: true, show: (one) => number(one.starting_nodes) },
  { title: 'Idle', width: 4, rank: 2, isNumber: true, show: (one) => number(one.idle_nodes) },
  { title: 'Pods wait', width: 6, rank: 2, isNumber: true, show: (one) => number(one.pending_pods) },
  { title: 'Message', rank: 3, show: ({ message }) => <span title={message}>{message}</span> },
];

function NodesPage() {
  const list = useList<NodePool>({ path: '/node-provisioners', idOf: nameOf, isWhole: true });
  return (
    <>
      <h1>Nodes</h1>
      <Rows
        label="NodeProvisioners"
        list={list}
        columns={COLUMNS}
        idOf={nameOf}
        href={({ name }) => `/nodes/${encodeURIComponent(name)}`}
        empty={
          <Empty command="kubectl apply -f node-provisioner.yaml">
            No NodeProvisioner. It is an object of a Kubernetes cluster that says which GPU nodes it may have.
          </Empty>
        }
      />
    </>
  );
}

/** By instance group, those without one last. */
function Groups({
  detail: { nodes, provisioner },
  freed,
}: {
  readonly detail: NodePoolDetail;
  readonly freed: ReadonlySet<string>;
}) {
  const byGroup = new Map<string, NodeOfPool[]>();
  for (const node of nodes) byGroup.set(node.group ?? '', [...(byGroup.get(node.group ?? '') ?? []), node]);
  const names = [...new Set([...provisioner.groups.map(({ name }) => name), ...byGroup.keys()])];
  return (
    <>
      {names.map((name) => {
        const group = provisioner.groups.find((one) => one.name === name);
        const members = byGroup.get(name) ?? [];
        return (
          <section key={name} aria-label={name || 'No group'}>
            <h2 class="mono">{name || 'no group'}</h2>
            {group && (
              <p class="quiet">
                Size {number(group.size)}. {group.last_error && `Last error: ${group.last_error}`}{' '}
                {group.backoff_until && (
                  <>
                    Not grown before <Ago at={group.backoff_until} />.
                  </>
                )}
              </p>
            )}
            {members.length > 0 ? <NodeRows nodes={members} freed={freed} /> : <p class="quiet">No node.</p>}
          </section>
        );
      })}
    </>
  );
}

function NodePage({ params }: PageProps) {
  const name = params.name ?? '';
  const path = `/node-provisioners/${encodeURIComponent(name)}`;
  const asked = useAsked<NodePoolDetail>(path, { everyMs: EVERY_MS });
  const plan = useAsked<NodePlan>(`${path}/plan`, { everyMs: PLAN_EVERY_MS });
  const defragmentation = useAsked<Defragmentation>(`${path}/defragmentation`, { everyMs: PLAN_EVERY_MS });
  const [count, choose] = useState(0);
  const freed = new Set((defragmentation.value?.nodes ?? []).slice(0, count).map((node) => node.name));
  return (
    <Shown asked={asked}>
      {(detail) => (
        <>
          <div class="title">
            <h1>{name}</h1>
            <NodePoolState one={detail.provisioner} />
          </div>
          <p>{detail.provisioner.message}</p>
          <Facts
            of={[
              ['Nodes', `${number(detail.provisioner.nodes)}, wanted ${number(detail.provisioner.target)}`],
              [
                'GPUs',
                `${number(detail.provisioner.gpus_requested)} of ${number(detail.provisioner.gpus)} used (${detail.provisioner.utilization_percent} %)`,
              ],
              [
                'Pods',
                `${number(detail.provisioner.pending_pods)} wait, ${number(detail.provisioner.unfit_pods)} would fit on no node of it`,
              ],
              [
                'Unknown machines',
                detail.provisioner.unknown_machines.length > 0 &&
                  counted(detail.provisioner.unknown_machines.length, 'machine'),
              ],
            ]}
          />
          <section aria-label="Plan">
            <h2>Next</h2>
            <Shown asked={plan} rows={2}>
              {({ did, why, unless, alternatives }) => (
                <>
                  <p>
                    <strong>{did}</strong> {why}
                  </p>
                  {unless && (
                    <p>
                      <span class="quiet">Would change if: </span>
                      {unless}
                    </p>
                  )}
                  <Alternatives of={alternatives} />
                </>
              )}
            </Shown>
          </section>
          <Groups detail={detail} freed={freed} />
          <Shown asked={defragmentation} rows={2}>
            {(value) => <IfDefragmented plan={value} count={count} choose={choose} />}
          </Shown>
        </>
      )}
    </Shown>
  );
}

export const noun: WebNoun = {
  path: '/nodes',
  title: 'Nodes',
  order: 50,
  key: 'n',
  needs: 'nodes',
  pages: [
    { path: '/nodes', page: NodesPage },
    { path: '/nodes/:name', page: NodePage },
  ],
};
