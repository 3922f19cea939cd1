import { getCACertificates, setDefaultCACertificates } from 'node:tls';

/** From now on this process trusts that authority too, with all that it connects to. */
export function trustToo(ca: string): void {
  setDefaultCACertificates([...getCACertificates('default'), ca]);
}
