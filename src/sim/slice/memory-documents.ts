import type { Document } from '#core/provider.ts';
import type { Place, SliceDocuments } from './cloud.ts';

/** Documents for a cloud that holds none: in memory, always at hand. */
export function memoryDocuments(): SliceDocuments {
  const places = new Map<Place, Map<string, Document>>();
  const at = (place: Place): Map<string, Document> => {
    const held = places.get(place) ?? new Map<string, Document>();
    places.set(place, held);
    return held;
  };
  return {
    open: async (place) => ({
      kind: 'memory',
      place,
      source: { documents: async () => [...at(place).values()] },
    }),
    write(place, name, text) {
      const version = String(Number(at(place).get(name)?.version ?? 0) + 1);
      at(place).set(name, { key: name, version, text });
      return name;
    },
    erase: (place, name) => void at(place).delete(name),
  };
}
