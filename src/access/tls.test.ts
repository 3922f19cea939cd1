import { describe, expect, it } from 'vitest';
import { DAY_MS } from '#core/clock.ts';
import { Fault } from '#core/fault.ts';
import { seededRandom } from '#core/random.ts';
import { VirtualClock } from '#core/virtual-clock.ts';
import { issueServerIdentity, newAuthority, ownIdentity } from './tls.ts';

describe('TLS', () => {
  it("takes the operator's own certificate, and says what is wrong with a bad one", async () => {
    const clock = new VirtualClock();
    const means = { clock, random: seededRandom(1) };
    const authority = newAuthority(means);
    const good = issueServerIdentity(authority, [], means);
    const other = issueServerIdentity(authority, [], means);
    const why = (key: string, certificate: string): string => {
      try {
        ownIdentity({ key, certificate }, clock);
        return '';
      } catch (thrown) {
        return Fault.from(thrown).message;
      }
    };

    const taken = ownIdentity({ key: good.key, certificate: good.certificate }, clock);
    const mixed = why(other.key, good.certificate);
    const garbage = why('x', 'y');
    await clock.advance(400 * DAY_MS);
    const late = why(good.key, good.certificate);

    expect(taken).toMatchObject({ ca: undefined, certificate: good.certificate });
    expect(mixed).toContain('does not match');
    expect(garbage).toContain('cannot be read');
    expect(late).toContain('expired on 2027-');
  });
});
