// Computers as people see them.
import { styleText } from 'node:util';
import { sentences } from '#core/sentences.ts';
import type { Computer, ComputerOffers, ComputerWhy } from '../api/wire/computer.ts';
import { ageOf, moment, type TableLayout } from './show.ts';
import { oneLine, renderFacts, renderTable } from './table.ts';

/** `in 3h`, or `never`. */
function endsIn({ ends_at: endsAt, end }: Computer, nowMs: number): string {
  if (end) return `${ageOf(end.at, nowMs)} ago`;
  if (endsAt === undefined) return 'never';
  const now = new Date(nowMs).toISOString();
  return `in ${ageOf(now, Date.parse(endsAt))}`;
}

export const computerListing = (nowMs: number): TableLayout<Computer> => ({
  nothing: 'No computers. Create one with `muster computer create NAME --platform PLATFORM`.',
  columns: [
    { title: 'NAME', value: ({ name }) => name },
    {
      title: 'STATUS',
      value: ({ status, agent }) => (status === 'running' && !agent ? 'running, agent away' : status),
    },
    { title: 'PLATFORM', value: ({ platform }) => oneLine(platform) },
    { title: 'AGE', value: ({ created_at: at }) => ageOf(at, nowMs), align: 'right' },
    { title: 'ENDS', value: (computer) => endsIn(computer, nowMs) },
    { title: 'BY', value: ({ by }) => oneLine(by) },
    { title: 'MACHINE', value: ({ machine }) => machine, isWide: true },
    { title: 'ID', value: ({ id }) => id, isWide: true },
    { title: 'WHY', value: ({ why }) => why && oneLine(why) },
  ],
});

/** One line about it, for people who wait. */
export function computerLine({ name, status, why, ends_at: endsAt, end, failure }: Computer): string {
  if (end) return oneLine(`Computer ${name} is gone since ${moment(end.at)}. ${end.why}`);
  if (status === 'error') return oneLine(sentences(`Computer ${name} has failed.`, why, failure?.remedy));
  const until = status === 'running' && endsAt !== undefined ? `, until ${moment(endsAt)}` : '';
  return oneLine(`Computer ${name} is ${status}${until}.${why === undefined ? '' : ` ${why}`}`);
}

export function computerFacts(computer: Computer): string {
  const { failure, end, away_since: away, running_at: running, ends_at: endsAt, endpoints } = computer;
  return renderFacts([
    ['Name', computer.name],
    ['Id', computer.id],
    ['Platform', oneLine(computer.platform)],
    ['Status', computer.status],
    ['Why', computer.why && oneLine(computer.why)],
    ['Remedy', failure?.remedy && oneLine(failure.remedy)],
    ['Created', oneLine(`${moment(computer.created_at)} by ${computer.by}`)],
    ['Running', running && `since ${moment(running)}`],
    ['Ends', end ? undefined : endsAt === undefined ? 'never by itself' : moment(endsAt)],
    ['Ended', end && oneLine(`${moment(end.at)} by ${end.by}`)],
    ['Machine', computer.machine],
    ['Agent', computer.agent ? 'connected' : away && `away since ${moment(away)}`],
    ['Port', computer.port],
    ['Reached at', endpoints.map(({ host, port }) => oneLine(`${host}:${port}`)).join(', ')],
  ]);
}

export function whyComputerText({ computer, machine, refused, events, ...why }: ComputerWhy): string {
  const facts = renderFacts([
    ['Computer', `${computer.name} on ${oneLine(computer.platform)}`],
    ['Status', computer.status],
    [computer.status === 'starting' ? 'Waits for' : 'Why', why.waits && oneLine(why.waits)],
    ['Remedy', computer.failure?.remedy && oneLine(computer.failure.remedy)],
    ['Frozen', why.frozen ? 'yes: nothing is done for it; `muster thaw` ends that' : undefined],
    ['Refused', `${why.refusals} of ${why.max_retries} launches`],
    ['Last refusal', refused && oneLine(`${moment(refused.at)}: ${sentences(refused.message, refused.remedy)}`)],
    ['Machine', machine && `${machine.name}: ${machine.state ?? 'not shown by the platform'}`],
    ['Asked', machine && `${moment(machine.asked_at)}; it may take ${why.timeout}`],
    ['Made', machine?.created_at && moment(machine.created_at)],
    ['Agent joined', machine?.joined_at && moment(machine.joined_at)],
    ['Agent', computer.agent ? 'connected' : computer.away_since && `away since ${moment(computer.away_since)}`],
  ]);
  const lines = events.map(({ at, kind, who, message }) =>
    [styleText('dim', moment(at)), styleText('bold', kind), oneLine(message), styleText('dim', oneLine(who))].join(
      '  ',
    ),
  );
  return [facts, '', 'Last events:', ...lines].join('\n');
}

/** Platforms and templates, or one platform with its options. */
export function offersText({ platforms, templates }: ComputerOffers): string {
  const [only] = platforms;
  if (platforms.length === 1 && only && templates.length === 0) {
    const who = only.needs_admin ? ' Only admins may create one, or others by a template.' : '';
    const options = renderTable(only.options, [
      { title: 'OPTION', value: ({ name }) => name },
      { title: 'DEFAULT', value: ({ default: usual }) => usual },
      { title: 'ABOUT', value: ({ about }) => about },
    ]);
    return `${only.name}: ${only.about}.${who}\n\n${options}`;
  }
  const all = [
    ...platforms.map(({ name, about, needs_admin: needs }) => ({ name: `--platform ${name}`, about, needs })),
    ...templates.map(({ name, platform }) => ({ name: `--template ${name}`, about: `on ${platform}`, needs: false })),
  ];
  return renderTable(all, [
    { title: 'WRITE', value: ({ name }) => name },
    { title: 'FOR', value: ({ needs }) => (needs ? 'admins' : 'operators') },
    { title: 'ABOUT', value: ({ about }) => oneLine(about) },
  ]);
}
