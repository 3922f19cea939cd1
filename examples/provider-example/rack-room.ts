// The racks of the depot, in memory: what node groups are tested against. They know nothing of the provider.
import { answer, refuse } from './depot-answers.ts';

export interface FakeRack {
  readonly hall: string;
  readonly name: string;
  readonly gpus: number;
  readonly cores: number;
  readonly memoryGib: number;
  readonly machines: Map<string, { readonly name: string; readonly lentAtMs: number; readonly reason?: string }>;
}

export function openRackRoom(now: () => number) {
  const racks: FakeRack[] = [];
  const used = new Set<string>();
  const room = { racks, stock: Number.POSITIVE_INFINITY, add, handle };

  function add(hall: string, name: string): FakeRack {
    const rack = { hall, name, gpus: 8, cores: 96, memoryGib: 1_024, machines: new Map() };
    racks.push(rack);
    return rack;
  }

  function lend({ machines }: FakeRack, name: string): Response {
    if (used.has(name)) return refuse(409, 'name_used');
    if (!machines.has(name)) {
      const isShort = room.stock <= 0;
      room.stock -= 1;
      machines.set(name, { name, lentAtMs: now(), ...(isShort && { reason: 'out_of_stock' }) });
    }
    return answer(200, {});
  }

  function giveBack({ machines, name: own }: FakeRack, name: string): Response {
    const other = racks.find((rack) => rack.name !== own && rack.machines.has(name));
    if (other) return refuse(409, 'of_another_rack');
    if (!machines.delete(name)) return refuse(404, 'not_found');
    used.add(name);
    return answer(200, {});
  }

  /** `/racks`, `/racks/HALL/NAME/machines` and one machine of it. */
  function handle(method: string, path: readonly string[]): Response | readonly object[] {
    const [hall, name, , machine] = path;
    if (hall === undefined) return racks.map(({ machines: _machines, ...shown }) => shown);
    const rack = racks.find((one) => one.hall === hall && one.name === name);
    if (!rack) return refuse(404, 'not_found');
    if (machine !== undefined) return method === 'PUT' ? lend(rack, machine) : giveBack(rack, machine);
    return [...rack.machines.values()].map((one) => ({ ...one, state: one.reason === undefined ? 'up' : 'broken' }));
  }

  return room;
}
