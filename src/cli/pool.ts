import { readFileSync } from 'node:fs';
import { styleText } from 'node:util';
import { Command } from 'commander';
import { Fault } from '#core/fault.ts';
import type { Plan, Pool, Why } from '../api/wire/pool.ts';
import { type Cli, clientOf, formatOf, showing } from './command.ts';
import { type Listing, show, showList } from './show.ts';
import { renderFacts } from './table.ts';
import { print, watchPicture } from './terminal.ts';

const path = (name: string): string => `/pools/${encodeURIComponent(name)}`;

const listing: Listing<Pool> = {
  nothing: 'No pools. Define one under `agent_pools:` in the configuration, or with `muster pool apply FILE`.',
  columns: [
    { title: 'NAME', value: (pool) => pool.name },
    { title: 'PHASE', value: (pool) => (pool.frozen ? `${pool.phase}, frozen` : pool.phase) },
    { title: 'WORKERS', value: (pool) => `${pool.workers.total}/${pool.auto_scaler.max_agents}`, align: 'right' },
    { title: 'IDLE', value: (pool) => pool.workers.idle, align: 'right' },
    { title: 'BUSY', value: (pool) => pool.workers.busy, align: 'right' },
    { title: 'BOOTING', value: (pool) => pool.workers.launching + pool.workers.booting, align: 'right' },
    { title: 'QUEUED', value: (pool) => pool.sessions.queued, align: 'right' },
    { title: 'BACKEND', value: (pool) => pool.backends.map(({ kind }) => kind).join(', ') || 'manual' },
    { title: 'SOURCE', value: (pool) => pool.owner.source },
  ],
};

function poolFacts(pool: Pool): string {
  const { auto_scaler: scaler, workers, sessions, slots } = pool;
  return renderFacts([
    ['Name', pool.name],
    ['Description', pool.description],
    ['Phase', pool.phase],
    ['Frozen', pool.frozen && `since ${pool.frozen.at} by ${pool.frozen.by}: ${pool.frozen.why}`],
    [
      'Removal',
      pool.removal && `since ${pool.removal.at}, at the latest ${pool.removal.deadline_at}: ${pool.removal.why}`,
    ],
    ['Source', `${pool.owner.source}, ${pool.owner.key}, version ${pool.owner.version}`],
    [
      'Workers',
      `${workers.total} of at most ${scaler.max_agents}: ${workers.idle} idle, ${workers.busy} busy, ${workers.launching + workers.booting} booting, ${workers.draining + workers.deleting} going, ${workers.lost} lost`,
    ],
    [
      'Slots',
      `${slots.free} free of ${slots.total}; keeps ${scaler.min_idle_agents} to ${scaler.max_idle_agents} idle, ${scaler.idle_decay} decay`,
    ],
    ['Sessions', `${sessions.placed} placed, ${sessions.queued} queued`],
    ['Backends', pool.backends.map(({ kind }) => kind).join(', ') || 'none: agents join by themselves'],
    ['Agents prove themselves by', pool.agent_auth],
    ['Revision', pool.revision],
  ]);
}

function whyText(why: Why): string {
  if (why.decisions.length === 0) return 'No decision yet.';
  return why.decisions
    .map((decision) => {
      const repeats = decision.repeats ? ` (${decision.repeats + 1} times, last ${decision.last_at})` : '';
      const facts = Object.entries(decision.facts).map(([name, value]) => `${name}=${value}`);
      const unless = decision.unless ? `\n  ${styleText('dim', `would change: ${decision.unless}`)}` : '';
      return `${decision.at}  ${styleText('bold', decision.did)}${repeats}\n  ${decision.why}\n  ${styleText('dim', facts.join(' '))}${unless}`;
    })
    .join('\n');
}

function planText(plan: Plan): string {
  const actions = plan.actions.map((action) => `${action.do} ${action.count ?? action.worker}: ${action.why}`);
  const again = plan.again_after ? `\nLooks again in ${plan.again_after}.` : '';
  return `${actions.join('\n') || 'Nothing.'}\n${plan.why}\nWould change: ${plan.unless}${again}`;
}

export function poolCommand(cli: Cli): Command {
  const pool = new Command('pool').alias('pools').description('pools of workers');

  pool.addCommand(
    showing('ls', 'list pools')
      .alias('list')
      .option('-w, --watch', 'show changes until interrupted')
      .action(async (options: { watch?: boolean }, command: Command) => {
        const client = clientOf(cli, command);
        const draw = async (): Promise<string> =>
          showList(await client.all<Pool>('/pools'), formatOf(command), listing);
        if (!options.watch) return print(cli.terminal, await draw());
        await watchPicture(cli.terminal, draw, { everyMs: 500, signal: cli.signal });
      }),
  );
  pool.addCommand(
    showing('show', 'show one pool')
      .argument('<name>')
      .action(async (name: string, _options, command: Command) => {
        const found = await clientOf(cli, command).call<Pool>(path(name));
        print(
          cli.terminal,
          show(found, formatOf(command), () => poolFacts(found)),
        );
      }),
  );
  pool.addCommand(
    showing('why', 'explain the last decisions of a pool')
      .argument('<name>')
      .action(async (name: string, _options, command: Command) => {
        const why = await clientOf(cli, command).call<Why>(`${path(name)}/why`);
        print(
          cli.terminal,
          show(why, formatOf(command), () => whyText(why)),
        );
      }),
  );
  pool.addCommand(
    showing('plan', 'show what the next pass would do')
      .argument('<name>')
      .action(async (name: string, _options, command: Command) => {
        const plan = await clientOf(cli, command).call<Plan>(`${path(name)}/plan`);
        print(
          cli.terminal,
          show(plan, formatOf(command), () => planText(plan)),
        );
      }),
  );
  for (const [verb, summary, done] of [
    ['pause', 'stop all scaling and placing of a pool', 'paused'],
    ['resume', 'let a paused pool go on', 'resumed'],
  ] as const) {
    pool.addCommand(
      new Command(verb)
        .description(summary)
        .argument('<name>')
        .action(async (name: string, _options, command: Command) => {
          await clientOf(cli, command).call(`${path(name)}/${verb}`, { method: 'POST' });
          print(cli.terminal, `Pool ${name} ${done}.`);
        }),
    );
  }
  pool.addCommand(applyCommand(cli));
  pool.addCommand(
    new Command('delete')
      .alias('rm')
      .description('drain and remove a pool that was defined by API')
      .argument('<name>')
      .action(async (name: string, _options, command: Command) => {
        await clientOf(cli, command).call(path(name), { method: 'DELETE' });
        print(cli.terminal, `Pool ${name} is being removed: its busy workers finish first.`);
      }),
  );
  return pool;
}

function applyCommand(cli: Cli): Command {
  return new Command('apply')
    .description('create or change a pool from a document (YAML or JSON)')
    .argument('<file>', 'a file, or - for stdin')
    .action(async (file: string, _options, command: Command) => {
      const text = readDocument(file);
      const made = await clientOf(cli, command).call<Pool>('/pools', { method: 'POST', body: text });
      print(cli.terminal, `Pool ${made.name} is at revision ${made.revision}.`);
    });
}

function readDocument(file: string): string {
  try {
    return readFileSync(file === '-' ? 0 : file, 'utf8');
  } catch (thrown) {
    throw new Fault('invalid', `Cannot read ${file}: ${(thrown as NodeJS.ErrnoException).code}.`, {
      remedy: 'Check the path.',
    });
  }
}
