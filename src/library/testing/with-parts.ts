import type { LibraryParts } from '../parts.ts';
import type { PlatformProvisioner } from '../platform-class.ts';

/** The class with other parts than those of this process. */
export function withParts<C extends new (...args: never[]) => object>(it: C, parts: LibraryParts): C {
  const given = it as unknown as new (options?: object) => PlatformProvisioner;
  const made = class extends given {
    static parts(): LibraryParts {
      return parts;
    }
  };
  // Log lines and faults name the class.
  Object.defineProperty(made, 'name', { value: it.name });
  return made as unknown as C;
}
