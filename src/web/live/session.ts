import type { Me } from '../../api/wire/token.ts';
import { useLive } from './use.ts';

export type Role = Me['role'];

const RANK: Readonly<Record<Role, number>> = { viewer: 0, operator: 1, admin: 2 };

export const ME_PATH = '/me';

/** Who uses this browser; unknown until the frame, which asks, has an answer. */
export const useMe = (): Me | undefined => useLive().known<Me>(ME_PATH).value.value;

/** Whether the user of this browser may do what needs that role. Actions that it may not do are not shown. */
export function useMay(needed: Role): boolean {
  const me = useMe();
  return me !== undefined && RANK[me.role] >= RANK[needed];
}
